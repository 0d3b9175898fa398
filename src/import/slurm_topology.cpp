// Importer row `slurm_topology`: Slurm's topology.conf, for topology/tree and topology/block. The
// file says which nodes are under which switch; cables are drawn so that no tier is narrower than
// the one below.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "import/network_dump.h"
#include "import/slurm_tree.h"

namespace weft::import {

namespace {

using fabric::DeviceKind;
using fabric::LinkKind;

constexpr double kMostCables = 1 << 22;

class SlurmNetwork {
 public:
  SlurmNetwork(const SlurmTree& tree, const ImportInputs& inputs) : tree_(tree), inputs_(inputs) {
    if (inputs.host == nullptr || inputs.host->of_kind(DeviceKind::nic).empty()) return;
    const auto& nics = inputs.host->of_kind(DeviceKind::nic);
    const fabric::DeviceClass& nic = inputs.host->device_class(nics[0]);
    nics_ = nics.size();
    ports_ = std::max(nic.ports, 1);
    if (nic.port_rate.bps() > 0) {
      kind_ = nic.port_kind;
      rate_ = nic.port_rate;
      rate_of_server_ = true;
    }
  }

  NetworkDump draw() && {
    add_switches();
    add_hosts();
    for (std::size_t s = 0; s < tree_.switches.size(); ++s) {
      for (const std::size_t child : tree_.switches[s].children) {
        if (tree_.switches[child].tier > 0) parents_[child].push_back(s);
      }
    }
    by_tier();
    say();
    return std::move(dump_);
  }

 private:
  void add_switches() {
    for (std::size_t s = 0; s < tree_.switches.size(); ++s) {
      if (tree_.switches[s].tier == 0) {
        ++empty_;
        continue;
      }
      NetworkDump::Switch device;
      device.name = tree_.switches[s].name;
      device.tier = tree_.switches[s].tier;
      drawn_[s] = dump_.switches.size();
      dump_.switches.push_back(std::move(device));
    }
  }

  void add_hosts() {
    for (const std::string& name : tree_.hosts) {
      NetworkDump::Host host;
      host.name = name;
      host.nics.resize(nics_);
      for (NetworkDump::Nic& nic : host.nics) nic.ports = ports_;
      dump_.hosts.push_back(std::move(host));
    }
    for (std::size_t s = 0; s < tree_.switches.size(); ++s) {
      if (tree_.switches[s].hosts.empty()) continue;
      const BitRate rate = rate_of(tree_.switches[s].rate);
      for (const std::size_t host : tree_.switches[s].hosts) {
        for (std::size_t n = 0; n < nics_; ++n) {
          for (int port = 1; port <= ports_; ++port) add_cables(s, {false, host, n, port}, rate, 1);
        }
      }
    }
  }

  // `count` cables from `below` up to switch `s`.
  void add_cables(std::size_t s, const NetworkDump::End& below, BitRate rate, double count) {
    if (static_cast<double>(dump_.cables.size()) + count > kMostCables)
      throw InputError(
          tree_.switches[s].where,
          fmt::format("the cables beneath {} are more than a network has", tree_.switches[s].name),
          "check LinkSpeed: a slow link above fast ones takes many cables");
    NetworkDump::Cable cable;
    cable.a = below;
    cable.b.device = drawn_.at(s);
    cable.link = network_link(*inputs_.catalogue, kind_, rate);
    dump_.cables.insert(dump_.cables.end(), static_cast<std::size_t>(count), cable);
    beneath_[s] += rate.gbps() * count;
  }

  // Lower tiers first, since what hangs beneath a switch decides its cables up.
  void by_tier() {
    std::vector<std::size_t> order;
    for (const auto& [s, drawn] : drawn_) order.push_back(s);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return tree_.switches[a].tier < tree_.switches[b].tier;
    });
    for (const std::size_t s : order) add_uplinks(s);
  }

  void add_uplinks(std::size_t s) {
    const std::vector<std::size_t>& parents = parents_[s];
    if (parents.empty()) {
      ++tops_;
      return;
    }
    const double share = beneath_[s] / static_cast<double>(parents.size());
    for (const std::size_t up : parents) {
      auto given = tree_.switches[up].rate;
      if (!given) given = tree_.switches[s].rate;
      const BitRate rate = rate_of(given);
      NetworkDump::End below;
      below.device = drawn_.at(s);
      // Rounding must not ask for one cable more.
      add_cables(up, below, rate, std::max(std::ceil(share / rate.gbps() * (1 - 1e-9)), 1.0));
    }
  }

  BitRate rate_of(const std::optional<BitRate>& given) {
    if (!given) assumed_rate_ = true;
    return given.value_or(rate_);
  }

  void say() {
    const auto note = [&](std::string text) { dump_.assumptions.push_back(std::move(text)); };
    if (assumed_rate_)
      note(fmt::format("{} of {}, {}", "links without LinkSpeed are taken as", to_text(rate_),
                       rate_of_server_ ? "as the NICs of the given server" : "InfiniBand"));
    if (tree_.speeds_taken_as_gbps > 0)
      note(fmt::format("LinkSpeed is taken as Gbps on {} lines; Slurm gives it no unit",
                       tree_.speeds_taken_as_gbps));
    if (tree_.speeds_passed_over > 0)
      note(fmt::format("LinkSpeed is passed over on {} lines: no link has so many Gbps",
                       tree_.speeds_passed_over));
    note(
        fmt::format("the file gives no cables: {} to each node, every NIC on the node's leaf, and "
                    "from each switch at least the capacity up that it has down",
                    nics_ * static_cast<std::size_t>(ports_)));
    if (tree_.blocks)
      note(
          "blocks are leaves; each further size of BlockSizes is a tier, and one switch joins "
          "what is left");
    if (empty_ > 0) note(fmt::format("{} switches have no nodes beneath and are left out", empty_));
    if (tops_ > 1 && unconnected())
      note(
          fmt::format("{} switches have nothing above them: parts of this network may not reach "
                      "each other",
                      tops_));
  }

  // Whether some leaf is out of reach of another: walked over all cables between switches.
  [[nodiscard]] bool unconnected() const {
    std::vector<std::size_t> group(dump_.switches.size());
    for (std::size_t s = 0; s < group.size(); ++s) group[s] = s;
    const auto find = [&](std::size_t s) {
      while (group[s] != s) s = group[s] = group[group[s]];
      return s;
    };
    for (const NetworkDump::Cable& cable : dump_.cables) {
      if (cable.a.on_switch && cable.b.on_switch)
        group[find(cable.a.device)] = find(cable.b.device);
    }
    for (std::size_t s = 1; s < group.size(); ++s) {
      if (find(s) != find(0)) return true;
    }
    return false;
  }

  const SlurmTree& tree_;
  const ImportInputs& inputs_;
  NetworkDump dump_;
  LinkKind kind_ = LinkKind::infiniband;
  BitRate rate_ = BitRate::gigabits_per_second(400);
  bool rate_of_server_ = false, assumed_rate_ = false;
  std::size_t nics_ = 1, empty_ = 0, tops_ = 0;
  int ports_ = 1;
  std::map<std::size_t, std::size_t> drawn_;                 // switch of the tree -> of the dump
  std::map<std::size_t, std::vector<std::size_t>> parents_;  // by switch of the tree
  std::map<std::size_t, double> beneath_;                    // Gbps of cables beneath
};

class SlurmTopology final : public Importer {
 public:
  [[nodiscard]] std::string_view name() const override { return "slurm_topology"; }
  [[nodiscard]] std::string_view summary() const override {
    return "topology.conf of Slurm: switches or blocks and the nodes under them";
  }
  [[nodiscard]] bool recognises(const Source& source) const override {
    return looks_like_slurm_topology(source.text);
  }
  [[nodiscard]] fabric::Fabric read(const Source& source,
                                    const ImportInputs& inputs) const override {
    const SlurmTree tree = read_slurm_tree(source, *inputs.catalogue);
    return build_network(SlurmNetwork(tree, inputs).draw(), inputs);
  }
};

}  // namespace

const Importer& slurm_topology_importer() {
  static const SlurmTopology kImporter;
  return kImporter;
}

}  // namespace weft::import
