#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace weft {

// The one place in a library that prints: the process ends here and nobody else can tell why.
void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "weft: internal error: CHECK(%s) failed at %s:%d\n", condition, file, line);
  std::fflush(stderr);
  std::abort();
}

}  // namespace weft
