// A point in time plus a point in time means nothing; a point plus a length does.
#include "base/units.h"

#ifdef WEFT_MISTAKE
weft::Instant sum(weft::Instant a, weft::Instant b) {
  return a + b;
}
#else
weft::Instant sum(weft::Instant a, weft::Duration b) {
  return a + b;
}
#endif
