#include <array>

#include "routing/routes_table.h"

namespace weft::routing {

using fabric::DeviceId;

namespace {

struct Name {
  Policy policy;
  std::string_view text;
};
constexpr std::array kNames = {
    Name{Policy::ecmp, "ecmp"},         Name{Policy::spray, "spray"},
    Name{Policy::adaptive, "adaptive"}, Name{Policy::dimension_order, "dimension_order"},
    Name{Policy::up_down, "up_down"},   Name{Policy::valiant, "valiant"},
};

}  // namespace

std::string_view to_text(Policy policy) {
  for (const Name& name : kNames) {
    if (name.policy == policy) return name.text;
  }
  return "?";
}

std::optional<Policy> parse_policy(std::string_view text) {
  for (const Name& name : kNames) {
    if (name.text == text) return name.policy;
  }
  return std::nullopt;
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const Name& name : kNames) names.emplace_back(name.text);
  return names;
}

std::string refuse_policy(const fabric::Fabric& fabric, Policy policy) {
  if (policy == Policy::dimension_order && !fabric.grid()) {
    return "dimension_order goes through the dimensions of a torus or mesh, and this network has "
           "none";
  }
  return {};
}

DeviceId dimension_order_next(const fabric::Grid& grid, DeviceId at, DeviceId to) {
  std::size_t stride = 1;
  for (const std::uint32_t size : grid.size) stride *= size;
  const std::size_t here = at.index() - grid.first.index(), there = to.index() - grid.first.index();
  for (const std::uint32_t size : grid.size) {
    stride /= size;
    const std::size_t a = here / stride % size, b = there / stride % size;
    if (a == b) continue;
    const std::size_t up = (b + size - a) % size;  // hops in the rising direction of a ring
    bool rises = b > a;
    if (grid.wrap && size > 2) rises = up * 2 < size || (up * 2 == size && a % 2 == 0);
    const std::size_t next = rises ? (a + 1) % size : (a + size - 1) % size;
    return DeviceId(grid.first.index() + here + next * stride - a * stride);
  }
  return at;
}

}  // namespace weft::routing
