#include <array>

#include "routing/routes_table.h"

namespace weft::routing {

using fabric::DeviceId;

namespace {

struct Name {
  Policy policy;
  std::string_view text, summary;
};
constexpr std::array kNames = {
    Name{Policy::ecmp, "ecmp", "One shortest path for each flow, by a hash."},
    Name{Policy::spray, "spray", "All shortest paths, equally at every device."},
    Name{Policy::adaptive, "adaptive", "All shortest paths, by the rates of the next links."},
    Name{Policy::flowlet, "flowlet", "One shortest path for each burst of a flow, by a hash."},
    Name{Policy::dimension_order, "dimension_order",
         "Torus and mesh: one shortest path, dimension by dimension."},
    Name{Policy::up_down, "up_down", "One path by a hash, never up again after down."},
    Name{Policy::valiant, "valiant", "Over all other leaf groups in equal parts, there and on."},
};

}  // namespace

std::string_view to_text(Policy policy) {
  for (const Name& name : kNames) {
    if (name.policy == policy) return name.text;
  }
  return "?";
}

std::string_view summary(Policy policy) {
  for (const Name& name : kNames) {
    if (name.policy == policy) return name.summary;
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
