// A rate is not a size, and 8 is never multiplied in silence.
#include "base/units.h"

#ifdef WEFT_MISTAKE
bool more(weft::Bytes b, weft::BitRate r) {
  return b > r;
}
#else
bool more(weft::Bytes b, weft::BitRate r) {
  return b.to_double() > r.bytes_per_second();
}
#endif
