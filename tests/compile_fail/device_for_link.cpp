// Both ids are 32-bit numbers, and neither passes for the other.
#include "fabric/fabric.h"

void use(weft::fabric::LinkId link);

#ifdef WEFT_MISTAKE
void call(weft::fabric::DeviceId device) {
  use(device);
}
#else
void call(weft::fabric::LinkId link) {
  use(link);
}
#endif
