#include "collective/nic_choice.h"

#include <algorithm>

namespace weft::collective {

// `each` nearest NICs of every GPU; between equals the one with fewest GPUs so far, so rails
// spread.
std::vector<std::uint32_t> nearest_nics(const NodeView& view, std::size_t each) {
  std::vector<int> load(view.nics.size(), 0);
  std::vector<std::uint32_t> out(view.gpus.size() * each);
  for (std::size_t turn = 0; turn < each; ++turn)
    for (std::size_t gpu = 0; gpu < view.gpus.size(); ++gpu) {
      std::uint32_t best = 0;
      for (std::uint32_t k = 1; k < view.nics.size(); ++k) {
        const Reach reach = view.gpu_nic[gpu][k].reach, least = view.gpu_nic[gpu][best].reach;
        if (each > 1 && load[k] != load[best] && reach <= Reach::pxb && least <= Reach::pxb) {
          if (load[k] < load[best]) best = k;
        } else if (reach < least || (reach == least && load[k] < load[best])) {
          best = k;
        }
      }
      ++load[best];
      out[gpu * each + turn] = best;
    }
  return out;
}

std::size_t nics_for_each_gpu(const NodeView& view) {
  const std::size_t each = view.nics.size() / view.gpus.size();
  if (each < 2) return 1;
  const std::vector<std::uint32_t> nics = nearest_nics(view, each);
  std::vector<bool> used(view.nics.size(), false);
  const bool alone = view.gpus.size() == 1;  // then every NIC is its own, however far
  for (std::size_t i = 0; i < nics.size(); ++i) {
    const bool far = view.gpu_nic[i / each][nics[i]].reach > Reach::pxb;
    if (used[nics[i]] || (far && !alone)) return 1;
    used[nics[i]] = true;
  }
  return each;
}

double network_of_a_gpu(const NodeView& view, const std::vector<std::uint32_t>& nics) {
  std::vector<int> load(view.nics.size(), 0);
  for (std::uint32_t nic : nics) ++load[nic];
  const std::size_t each = nics.size() / view.gpus.size();
  double least = 1e9;
  for (std::size_t gpu = 0; gpu < view.gpus.size(); ++gpu) {
    double sum = 0;
    for (std::size_t i = 0; i < each; ++i) {
      const std::uint32_t nic = nics[gpu * each + i];
      sum += view.links[view.nic_out[nic]].bandwidth / load[nic];
    }
    least = std::min(least, sum);
  }
  return least;
}

bool can_relay(const NodeView& view, const std::vector<std::uint32_t>& nics) {
  for (std::size_t from = 0; from < view.gpus.size(); ++from)
    for (std::size_t to = 0; to < view.gpus.size(); ++to)
      if (from != to && view.gpu_gpu[from][to].reach > Reach::nvl) return false;
  std::vector<std::uint32_t> sorted = nics;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

bool network_reduces(const fabric::Fabric& fabric, const std::vector<fabric::DeviceId>& nics) {
  for (fabric::DeviceId nic : nics)
    for (fabric::LinkId link : fabric.out_links(nic)) {
      if (!fabric::is_network(fabric.link_class(link).kind)) continue;
      if (!fabric.device_class(fabric.to(link)).reduces) return false;
    }
  return !nics.empty();
}

}  // namespace weft::collective
