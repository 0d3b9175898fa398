// CHECK: an invariant that only a fault of ours can break. Always on, in every build.
// What a user can cause is an InputError (base/errors.h), never a CHECK.
#pragma once

namespace weft {

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace weft

#define CHECK(condition)                                    \
  do {                                                      \
    if (!(condition)) [[unlikely]]                          \
      ::weft::check_failed(#condition, __FILE__, __LINE__); \
  } while (false)
