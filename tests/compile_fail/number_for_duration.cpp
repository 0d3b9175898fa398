// A plain number has no unit: nanoseconds or picoseconds must be said.
#include "base/units.h"

#ifdef WEFT_MISTAKE
weft::Duration latency() {
  return 5;
}
#else
weft::Duration latency() {
  return weft::Duration::nanoseconds(5);
}
#endif
