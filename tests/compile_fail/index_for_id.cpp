// An index becomes an id only where that is written out.
#include "fabric/fabric.h"

#ifdef WEFT_MISTAKE
weft::fabric::DeviceId first() {
  return 0u;
}
#else
weft::fabric::DeviceId first() {
  return weft::fabric::DeviceId(0u);
}
#endif
