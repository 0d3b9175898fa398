// Bytes become a time only through a rate, and that function says how it rounds.
#include "base/units.h"

#ifdef WEFT_MISTAKE
weft::Duration total(weft::Duration d, weft::Bytes b) {
  return d + b;
}
#else
weft::Duration total(weft::Duration d, weft::Bytes b, weft::BitRate r) {
  return d + weft::serialization_time(b, r);
}
#endif
