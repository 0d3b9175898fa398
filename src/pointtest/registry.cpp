#include <array>

#include "pointtest/pointtest.h"

namespace weft::pointtest {

#define X(name) const Family& name##_family();
#include "pointtest/list.def"
#undef X

std::span<const Family* const> all_families() {
  static const std::array kRows = {
#define X(name) &name##_family(),
#include "pointtest/list.def"
#undef X
  };
  return kRows;
}

std::optional<Found> find_test(std::string_view name) {
  for (const Family* family : all_families()) {
    for (const Test& test : family->tests()) {
      if (test.name == name) return Found{family, &test};
    }
  }
  return std::nullopt;
}

std::vector<std::string> test_names() {
  std::vector<std::string> names;
  for (const Family* family : all_families()) {
    for (const Test& test : family->tests()) names.emplace_back(test.name);
  }
  return names;
}

}  // namespace weft::pointtest
