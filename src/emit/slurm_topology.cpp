// Emitter row `slurm_topology`: the switches of a network and the servers under them, for Slurm's
// topology/tree. Servers with NICs on several leaves (rails, two ToRs) are under one entry that
// stands for all of those leaves, since Slurm gives a node one leaf.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "emit/emitter.h"
#include "emit/network_ports.h"
#include "import/hostlist.h"

namespace weft::emit {

namespace {

using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::LinkId;
using fabric::ServerId;

bool is_switch(const fabric::Fabric& fabric, DeviceId device) {
  const DeviceKind kind = fabric.kind(device);
  return kind == DeviceKind::network_switch || kind == DeviceKind::gateway ||
         kind == DeviceKind::ocs;
}

// Names that Slurm takes, each used once.
class Names {
 public:
  std::string take(std::string_view wanted) {
    std::string name(wanted);
    for (char& c : name) {
      const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
      if (!good) c = '-';
    }
    while (!used_.insert(name).second) name += "_";
    return name;
  }

 private:
  std::set<std::string> used_;
};

// One line of the file: a switch, or all leaves that a group of servers shares.
struct Entry {
  std::vector<DeviceId> members;
  std::string name;
  int tier = 1;
  std::vector<std::string> nodes;
  std::set<std::size_t> below;
  std::set<std::int64_t> rates;  // of the cables beneath, bit/s
};

class SlurmWriter {
 public:
  explicit SlurmWriter(const fabric::Fabric& fabric) : fabric_(fabric) {}

  std::string write(const SourcePosition& asked_at) {
    group_servers();
    if (entries_.empty())
      throw InputError(asked_at, "no server of this source is on a switch",
                       "name a cluster, or a server with --nodes");
    add_switches();
    join_tiers();
    join_level();
    std::string out = "# Slurm topology/tree, written by weft\n";
    if (level_) out += "# some switches of one tier are joined: one entry on top stands for that\n";
    for (const Entry& entry : entries_) out += line_of(entry);
    return out;
  }

 private:
  // Servers by the set of switches that their NICs are on.
  void group_servers() {
    std::map<std::set<DeviceId>, std::size_t> by_leaves;
    for (std::size_t s = 0; s < fabric_.server_count(); ++s) {
      std::set<DeviceId> leaves;
      std::set<std::int64_t> rates;
      for (const DeviceId nic : fabric_.of_kind(DeviceKind::nic, ServerId(s))) {
        for (const NetworkPort& port : network_ports(fabric_, nic)) {
          if (!is_switch(fabric_, fabric_.to(port.link))) continue;
          leaves.insert(fabric_.to(port.link));
          rates.insert(fabric_.link_class(port.link).raw_rate.bps());
        }
      }
      if (leaves.empty()) continue;
      const auto [at, is_new] = by_leaves.emplace(leaves, entries_.size());
      if (is_new) {
        Entry entry;
        entry.members.assign(leaves.begin(), leaves.end());
        for (const DeviceId leaf : leaves) {
          entry.tier = std::max<int>(entry.tier, fabric_.info(leaf).tier);
          of_switch_[leaf].push_back(entries_.size());
        }
        entries_.push_back(std::move(entry));
      }
      Entry& entry = entries_[at->second];
      entry.nodes.push_back(names_.take(server_name(s)));
      entry.rates.insert(rates.begin(), rates.end());
    }
    for (Entry& entry : entries_) {
      std::string name(fabric_.name(entry.members.front()));
      if (entry.members.size() > 1) name += fmt::format("..{}", fabric_.name(entry.members.back()));
      entry.name = names_.take(name);
    }
  }

  // "node3/gpu0" is of node3; a server without a name of its own goes by its number.
  [[nodiscard]] std::string server_name(std::size_t server) const {
    const auto range = fabric_.devices_of(ServerId(server));
    const std::string_view name = fabric_.name(DeviceId(range.first));
    const std::size_t cut = name.rfind('/');
    return cut == std::string_view::npos ? fmt::format("node{}", server)
                                         : std::string(name.substr(0, cut));
  }

  void add_switches() {
    for (const DeviceId device : network_devices(fabric_)) {
      if (!is_switch(fabric_, device) || of_switch_.contains(device)) continue;
      of_switch_[device].push_back(entries_.size());
      Entry entry;
      entry.members = {device};
      entry.name = names_.take(fabric_.name(device));
      entry.tier = fabric_.info(device).tier;
      entries_.push_back(std::move(entry));
    }
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.tier < b.tier; });
    of_switch_.clear();
    for (std::size_t e = 0; e < entries_.size(); ++e) {
      for (const DeviceId member : entries_[e].members) of_switch_[member].push_back(e);
    }
  }

  void join_tiers() {
    for (std::size_t e = 0; e < entries_.size(); ++e) {
      if (!entries_[e].nodes.empty()) continue;  // Slurm: nodes or switches
      for (const DeviceId member : entries_[e].members) {
        for (const NetworkPort& port : network_ports(fabric_, member)) {
          const auto other = of_switch_.find(fabric_.to(port.link));
          if (other == of_switch_.end()) continue;
          for (const std::size_t o : other->second) {
            if (entries_[o].tier >= entries_[e].tier) continue;
            entries_[e].below.insert(o);
            entries_[e].rates.insert(fabric_.link_class(port.link).raw_rate.bps());
          }
        }
      }
    }
    // A switch that leads to no server says nothing to Slurm. Lower tiers come first.
    std::vector<std::size_t> place(entries_.size(), SIZE_MAX);
    std::vector<Entry> kept;
    for (std::size_t e = 0; e < entries_.size(); ++e) {
      std::set<std::size_t> below;
      for (const std::size_t o : entries_[e].below) {
        if (place[o] != SIZE_MAX) below.insert(place[o]);
      }
      entries_[e].below = std::move(below);
      if (entries_[e].nodes.empty() && entries_[e].below.empty()) continue;
      place[e] = kept.size();
      kept.push_back(std::move(entries_[e]));
    }
    entries_ = std::move(kept);
    of_switch_.clear();
    for (std::size_t e = 0; e < entries_.size(); ++e) {
      for (const DeviceId member : entries_[e].members) of_switch_[member].push_back(e);
    }
  }

  // Entries that are joined by cables but by no common entry above (rings, dragonflies, servers on
  // leaves of several groups) get one on top of what they are under.
  void join_level() {
    std::vector<std::size_t> wired(entries_.size()), told(entries_.size());
    for (std::size_t e = 0; e < entries_.size(); ++e) wired[e] = told[e] = e;
    const auto root = [](std::vector<std::size_t>& group, std::size_t e) {
      while (group[e] != e) e = group[e] = group[group[e]];
      return e;
    };
    for (std::size_t e = 0; e < entries_.size(); ++e) {
      for (const std::size_t o : entries_[e].below) told[root(told, e)] = root(told, o);
    }
    wired = told;
    for (const auto& [device, entries] : of_switch_) {
      for (const std::size_t e : entries) wired[root(wired, e)] = root(wired, entries.front());
      for (const NetworkPort& port : network_ports(fabric_, device)) {
        const auto other = of_switch_.find(fabric_.to(port.link));
        if (other == of_switch_.end()) continue;
        wired[root(wired, entries.front())] = root(wired, other->second.front());
      }
    }
    std::vector<bool> has_parent(entries_.size(), false);
    for (const Entry& entry : entries_) {
      for (const std::size_t o : entry.below) has_parent[o] = true;
    }
    std::map<std::size_t, std::set<std::size_t>> parts;  // wired group -> told groups
    for (std::size_t e = 0; e < entries_.size(); ++e) parts[root(wired, e)].insert(root(told, e));
    const std::size_t before = entries_.size();
    for (const auto& [group, inside] : parts) {
      if (inside.size() < 2) continue;
      Entry top;
      for (std::size_t e = 0; e < before; ++e) {
        if (!has_parent[e] && root(wired, e) == group) top.below.insert(e);
      }
      top.name = names_.take("joined");
      entries_.push_back(std::move(top));
      level_ = true;
    }
  }

  [[nodiscard]] std::string line_of(const Entry& entry) const {
    std::string out = fmt::format("SwitchName={}", entry.name);
    if (!entry.nodes.empty()) {
      out += fmt::format(" Nodes={}", import::compress_hostlist(entry.nodes));
    } else {
      std::vector<std::string> below;
      for (const std::size_t o : entry.below) below.push_back(entries_[o].name);
      out += fmt::format(" Switches={}", import::compress_hostlist(below));
    }
    constexpr std::int64_t kGbps = 1'000'000'000;
    if (entry.rates.size() == 1 && *entry.rates.begin() % kGbps == 0)
      out += fmt::format(" LinkSpeed={}", *entry.rates.begin() / kGbps);
    return out + "\n";
  }

  const fabric::Fabric& fabric_;
  Names names_;
  std::vector<Entry> entries_;
  std::map<DeviceId, std::vector<std::size_t>> of_switch_;
  bool level_ = false;
};

class SlurmTopology final : public Emitter {
 public:
  [[nodiscard]] std::string_view name() const override { return "slurm_topology"; }
  [[nodiscard]] std::string_view summary() const override {
    return "topology.conf of Slurm's topology/tree: switches and the servers under them";
  }
  [[nodiscard]] std::string write(const fabric::Fabric& fabric,
                                  const SourcePosition& asked_at) const override {
    return SlurmWriter(fabric).write(asked_at);
  }
};

}  // namespace

const Emitter& slurm_topology_emitter() {
  static const SlurmTopology kEmitter;
  return kEmitter;
}

}  // namespace weft::emit
