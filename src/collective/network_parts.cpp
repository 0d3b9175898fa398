#include "collective/network_parts.h"

#include <algorithm>
#include <numeric>

namespace weft::collective {

namespace {

using fabric::DeviceId;
using fabric::DeviceKind;

// Union of devices, the lowest id its root.
class Parts {
 public:
  explicit Parts(std::size_t devices) : parent_(devices) {
    std::iota(parent_.begin(), parent_.end(), 0u);
  }
  std::uint32_t root(std::uint32_t d) {
    while (parent_[d] != d) d = parent_[d] = parent_[parent_[d]];
    return d;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

}  // namespace

std::vector<std::uint32_t> network_parts(const fabric::Fabric& fabric,
                                         std::span<const DeviceId> nics) {
  // Ports of one NIC join nothing: it does not forward. Its first port speaks for it.
  Parts parts(fabric.device_count());
  for (std::size_t l = 0; l < fabric.link_count(); l += 2) {
    const fabric::LinkId link(l);
    if (!fabric::is_network(fabric.link_class(link).kind)) continue;
    const DeviceId a = fabric.from(link), b = fabric.to(link);
    const bool a_nic = fabric.kind(a) == DeviceKind::nic, b_nic = fabric.kind(b) == DeviceKind::nic;
    if (a_nic == b_nic) parts.join(a.value, b.value);
  }
  std::vector<std::uint32_t> part;
  for (const DeviceId nic : nics) {
    std::uint32_t of = parts.root(nic.value);
    for (const fabric::LinkId link : fabric.out_links(nic)) {
      if (!fabric::is_network(fabric.link_class(link).kind)) continue;
      of = parts.root(fabric.to(link).value);
      break;
    }
    part.push_back(of);
  }
  if (std::adjacent_find(part.begin(), part.end(), std::not_equal_to<>()) == part.end()) return {};
  return part;
}

}  // namespace weft::collective
