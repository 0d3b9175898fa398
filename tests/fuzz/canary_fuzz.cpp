// A planted fault behind four bytes. A fuzzing setup that does not find it would find nothing in an
// importer either, so .ci/run fails when this target survives.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size >= 4 && data[0] == 'w' && data[1] == 'e' && data[2] == 'f' && data[3] == 't') {
    std::fputs("the planted fault\n", stderr);
    std::abort();
  }
  return 0;
}
