// Importer row `htsim_topo`: the fat tree of two or three tiers that htsim reads. Counts of
// switches follow from nodes, pods and radices; what the file says twice (rates and
// oversubscription against radices) has to agree. Source: htsim's datacenter/fat_tree_topology
// (Broadcom csg-htsim).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "import/network_dump.h"

namespace weft::import {
namespace {

using fabric::DeviceKind;
using fabric::LinkKind;

constexpr std::int64_t kMostNodes = 1 << 17;
constexpr std::int64_t kMostCables = 1 << 22;
constexpr std::int64_t kMostTiers = 3;

struct Number {
  std::int64_t value = 0;
  SourcePosition where;
};
using Numbers = std::map<std::string, Number, std::less<>>;  // by key in lower case

struct Key {
  const char* name;
  std::int64_t least, most;
  bool required;
};
constexpr std::array<Key, 3> kHeadKeys = {{{"Nodes", 2, kMostNodes, true},
                                           {"Tiers", 2, kMostTiers, true},
                                           {"Podsize", 1, kMostNodes, true}}};
constexpr std::array<Key, 9> kTierKeys = {{{"Downlink_speed_Gbps", 1, 1'000'000, true},
                                           {"Radix_Down", 1, kMostNodes, true},
                                           {"Radix_Up", 1, kMostNodes, false},
                                           {"Queue_Up", 1, 1'000'000'000, false},
                                           {"Queue_Down", 1, 1'000'000'000, false},
                                           {"Oversubscribed", 1, kMostNodes, false},
                                           {"Bundle", 1, kMostNodes, false},
                                           {"Switch_Latency_ns", 0, 1'000'000'000, false},
                                           {"Downlink_Latency_ns", 0, 1'000'000'000, true}}};

template <class Keys>
std::vector<std::string> names_of(const Keys& keys) {
  std::vector<std::string> names;
  for (const Key& key : keys) names.emplace_back(key.name);
  return names;
}

struct Tier {
  SourcePosition where;
  Numbers numbers;
  [[nodiscard]] std::int64_t get(std::string_view key, std::int64_t otherwise) const {
    const auto found = numbers.find(key);
    return found == numbers.end() ? otherwise : found->second.value;
  }
  [[nodiscard]] SourcePosition place(std::string_view key) const {
    const auto found = numbers.find(key);
    return found == numbers.end() ? where : found->second.where;
  }
  [[nodiscard]] std::int64_t down() const { return get("radix_down", 1); }
  [[nodiscard]] std::int64_t up() const { return get("radix_up", 0); }
  [[nodiscard]] std::int64_t gbps() const { return get("downlink_speed_gbps", 1); }
  [[nodiscard]] std::int64_t bundle() const { return get("bundle", 1); }
  [[nodiscard]] std::int64_t oversubscribed() const { return get("oversubscribed", 1); }
};

struct Topo {
  Numbers head;
  std::vector<Tier> tiers;
  [[nodiscard]] std::int64_t nodes() const { return head.at("nodes").value; }
  [[nodiscard]] std::int64_t pod() const { return head.at("podsize").value; }
};

// Keys and values, every number within its bounds; then what the tree asks of them.
class TopoFile {
 public:
  explicit TopoFile(const Source& source) : source_(source), index_(source.text) {}

  Topo read() && {
    std::size_t begin = 0;
    for (const std::string_view line : split(source_.text, '\n')) {
      read_line(line, begin);
      begin += line.size() + 1;
    }
    check_keys();
    diagnostics_.throw_if_any(source_.text);
    Topo topo{std::move(head_), {}};
    for (auto& [number, tier] : tiers_) topo.tiers.push_back(std::move(tier));
    check_pods(topo);
    for (std::size_t t = 0; t + 1 < topo.tiers.size(); ++t) check_uplinks(topo, t);
    diagnostics_.throw_if_any(source_.text);
    return topo;
  }

 private:
  void complain(SourcePosition where, std::string what, std::string hint) {
    diagnostics_.add(std::move(where), std::move(what), std::move(hint));
  }
  [[nodiscard]] SourcePosition at(std::size_t offset) const {
    return index_.at(offset, source_.file);
  }

  void read_line(std::string_view line, std::size_t begin) {
    const auto words = split_whitespace(line.substr(0, line.find('#')));
    if (words.empty()) return;
    const auto offset = [&](std::string_view word) {
      return begin + static_cast<std::size_t>(word.data() - line.data());
    };
    if (words.size() != 2) {
      return complain(at(offset(words[0])), fmt::format("'{}' takes one number", words[0]),
                      "a line is a key and a number: Radix_Down 8");
    }
    const auto number = parse_int(words[1]);
    if (!number)
      return complain(at(offset(words[1])), fmt::format("'{}' is no whole number", words[1]),
                      "a line is a key and a number: Radix_Down 8");
    const std::string key = to_lower(words[0]);
    if (key == "tier") return open_tier(*number, at(offset(words[0])));
    const SourcePosition where = at(offset(words[0]));
    if (tier_ == nullptr)
      take(words[0], {*number, where}, kHeadKeys, head_, "the head");
    else
      take(words[0], {*number, where}, kTierKeys, tier_->numbers, "a tier");
  }

  void open_tier(std::int64_t number, const SourcePosition& where) {
    if (number < 0 || number >= kMostTiers)
      complain(where, fmt::format("there is no tier {}", number), "tiers are 0, 1 and 2");
    const auto [entry, is_new] = tiers_.try_emplace(number);
    if (!is_new)
      complain(where,
               fmt::format("tier {} is already on line {}", number, entry->second.where.line),
               "describe each tier once");
    entry->second.where = where;
    tier_ = &entry->second;
  }

  template <class Keys>
  void take(std::string_view word, Number number, const Keys& keys, Numbers& into,
            const char* what) {
    const std::string name = to_lower(word);
    const auto key = std::find_if(keys.begin(), keys.end(),
                                  [&](const Key& k) { return to_lower(k.name) == name; });
    if (key == keys.end())
      return complain(number.where, fmt::format("{} has no '{}'", what, word),
                      suggest(word, names_of(keys)));
    if (number.value < key->least || number.value > key->most)
      complain(number.where, fmt::format("{} is {}", key->name, number.value),
               fmt::format("from {} to {}", key->least, key->most));
    if (!into.emplace(name, number).second)
      complain(number.where, fmt::format("{} stands twice", key->name), "keep one");
  }

  void check_keys() {
    for (const Key& key : kHeadKeys) {
      if (key.required && !head_.contains(to_lower(key.name)))
        complain({source_.file, 1, 1}, fmt::format("{} is missing", key.name),
                 "a file opens with Nodes, Tiers and Podsize");
    }
    const auto told = head_.find("tiers");
    const std::int64_t count = told == head_.end() ? 0 : told->second.value;
    for (std::int64_t t = 0; t < std::min(count, kMostTiers); ++t) {
      if (!tiers_.contains(t))
        complain(told->second.where, fmt::format("tier {} is missing", t),
                 fmt::format("add Tier {} with its keys", t));
    }
    for (const auto& [number, tier] : tiers_) {
      if (told != head_.end() && number >= count)
        complain(tier.where, fmt::format("tier {} of {}", number, count), "mend Tiers");
      for (const Key& key : kTierKeys) {
        if (key.required && !tier.numbers.contains(to_lower(key.name)))
          complain(tier.where, fmt::format("tier {} has no {}", number, key.name), "add it");
      }
      const bool top = number + 1 == count;
      for (const char* up : {"radix_up", "queue_up"}) {
        if (top && tier.numbers.contains(up))
          complain(tier.place(up), "the top tier has no links up", "remove it");
      }
      if (!top && number < count && !tier.numbers.contains("radix_up"))
        complain(tier.where, fmt::format("tier {} has no Radix_Up", number), "add it");
    }
  }

  void check_pods(const Topo& topo) {
    const Number& pod = topo.head.at("podsize");
    const std::int64_t nodes = topo.nodes(), leaf = topo.tiers[0].down();
    if (topo.tiers.size() == 2 && pod.value != nodes)
      complain(pod.where, fmt::format("two tiers, but pods of {} nodes of {}", pod.value, nodes),
               fmt::format("two tiers are one pod: Podsize {}", nodes));
    else if (nodes % pod.value != 0)
      complain(pod.where,
               fmt::format("{} nodes are no whole number of pods of {}", nodes, pod.value),
               "Nodes is a multiple of Podsize");
    if (pod.value % leaf != 0)
      complain(
          topo.tiers[0].place("radix_down"),
          fmt::format("a pod of {} nodes is no whole number of switches with {}", pod.value, leaf),
          "Podsize is a multiple of tier 0's Radix_Down");
    if (topo.tiers[0].bundle() != 1)
      complain(topo.tiers[0].place("bundle"), "a node has one link", "remove Bundle from tier 0");
  }

  // Tier t to t + 1: switches above, their ports, and the rates against the oversubscription.
  void check_uplinks(const Topo& topo, std::size_t t) {
    const Tier &lower = topo.tiers[t], &upper = topo.tiers[t + 1];
    const std::int64_t bundle = upper.bundle();
    if (lower.up() % bundle != 0)
      complain(upper.place("bundle"),
               fmt::format("{} links up are no whole number of bundles of {}", lower.up(), bundle),
               fmt::format("Radix_Up of tier {} is a multiple of Bundle of tier {}", t, t + 1));
    // A spine reaches every leaf of its pod; a core reaches one switch of each pod.
    const std::int64_t below =
        t == 0 ? topo.pod() / topo.tiers[0].down() : topo.nodes() / topo.pod();
    const std::int64_t switches =
        t == 0 ? topo.nodes() / lower.down()
               : topo.nodes() / topo.pod() * (topo.tiers[0].up() / lower.bundle());
    if (switches * lower.up() > kMostCables)
      complain(lower.place("radix_up"), "more cables than a network has", "check Radix_Up");
    if (below * bundle != upper.down())
      complain(upper.place("radix_down"),
               fmt::format("Radix_Down is {}, but {} switches below with {} links each make {}",
                           upper.down(), below, bundle, below * bundle),
               "mend Radix_Down, Bundle or Podsize");
    if (lower.down() * lower.gbps() != lower.up() * upper.gbps() * lower.oversubscribed())
      complain(
          lower.place("oversubscribed"),
          fmt::format("{} x {} Gbps down and {} x {} Gbps up do not give Oversubscribed {}",
                      lower.down(), lower.gbps(), lower.up(), upper.gbps(), lower.oversubscribed()),
          "capacity down = capacity up x Oversubscribed");
  }

  const Source& source_;
  LineIndex index_;
  Diagnostics diagnostics_;
  Numbers head_;
  std::map<std::int64_t, Tier> tiers_;
  Tier* tier_ = nullptr;  // being read
};

class TopoNetwork {
 public:
  TopoNetwork(const Topo& topo, const ImportInputs& inputs) : topo_(topo), inputs_(inputs) {}

  NetworkDump draw() && {
    const auto& tiers = topo_.tiers;
    const std::int64_t pods = topo_.nodes() / topo_.pod();
    const std::int64_t leaves = topo_.pod() / tiers[0].down();
    const std::int64_t spines = tiers[0].up() / tiers[1].bundle();  // of a pod
    add_switches("tor", 0, leaves * pods);
    add_switches("agg", 1, spines * pods);
    const std::int64_t cores = tiers.size() < 3 ? 0 : spines * (tiers[1].up() / tiers[2].bundle());
    if (cores > 0) add_switches("core", 2, cores);
    add_nodes();
    for (std::int64_t leaf = 0; leaf < leaves * pods; ++leaf) {
      for (std::int64_t s = 0; s < spines; ++s) join(0, leaf, leaf / leaves * spines + s);
    }
    // Spine p of a pod meets cores p, p + spines, p + 2 spines ...
    for (std::int64_t agg = 0; cores > 0 && agg < spines * pods; ++agg) {
      for (std::int64_t core = agg % spines; core < cores; core += spines) join(1, agg, core);
    }
    return std::move(dump_);
  }

 private:
  void add_switches(const char* name, std::size_t t, std::int64_t count) {
    const Tier& tier = topo_.tiers[t];
    first_.push_back(dump_.switches.size());
    for (std::int64_t i = 0; i < count; ++i) {
      NetworkDump::Switch device;
      device.name = fmt::format("{}{}", name, i);
      device.radix = static_cast<int>(tier.down() + tier.up());
      device.latency = Duration::nanoseconds(tier.get("switch_latency_ns", 0));
      device.tier = static_cast<int>(t) + 1;
      // htsim's queues are of one port each; Weft's buffer is of the switch.
      const std::int64_t queues =
          tier.get("queue_down", 0) * tier.down() + tier.get("queue_up", 0) * tier.up();
      if (queues > 0) device.buffer = Bytes(queues);
      dump_.switches.push_back(std::move(device));
    }
  }

  [[nodiscard]] fabric::LinkClass link_below(std::size_t t) const {
    const Tier& tier = topo_.tiers[t];
    fabric::LinkClass link = network_link(*inputs_.catalogue, LinkKind::ethernet,
                                          BitRate::gigabits_per_second(tier.gbps()));
    link.latency = Duration::nanoseconds(tier.get("downlink_latency_ns", 0));
    return link;
  }

  // As many nodes in a row as the given server has NICs are one such server.
  void add_nodes() {
    const std::size_t nics =
        inputs_.host == nullptr ? 0 : inputs_.host->of_kind(DeviceKind::nic).size();
    const auto nodes = static_cast<std::size_t>(topo_.nodes());
    const std::size_t group = nics > 0 && nodes % nics == 0 ? nics : 1;
    const fabric::LinkClass link = link_below(0);
    for (std::size_t n = 0; n < nodes; ++n) {
      if (n % group == 0) {
        NetworkDump::Host host;
        host.name = fmt::format("node{}", dump_.hosts.size());
        host.gpus = true;
        host.nics.resize(group);
        dump_.hosts.push_back(std::move(host));
      }
      NetworkDump::Cable cable;
      cable.a = {false, dump_.hosts.size() - 1, n % group, 1};
      cable.b.device = n / static_cast<std::size_t>(topo_.tiers[0].down());
      cable.link = link;
      dump_.cables.push_back(std::move(cable));
    }
    if (group > 1)
      dump_.assumptions.push_back(
          fmt::format("{} nodes of htsim in a row are the NICs of one server", group));
    else if (nics > 1)
      dump_.assumptions.push_back(
          fmt::format("{} nodes make no whole number of servers with {} NICs: each is a host of "
                      "its own",
                      nodes, nics));
    else
      dump_.assumptions.push_back("each node of htsim is one GPU with one NIC");
  }

  void join(std::size_t t, std::int64_t lower, std::int64_t upper) {
    NetworkDump::Cable cable;
    cable.a.device = first_[t] + static_cast<std::size_t>(lower);
    cable.b.device = first_[t + 1] + static_cast<std::size_t>(upper);
    cable.link = link_below(t + 1);
    dump_.cables.insert(dump_.cables.end(), static_cast<std::size_t>(topo_.tiers[t + 1].bundle()),
                        cable);
  }

  const Topo& topo_;
  const ImportInputs& inputs_;
  NetworkDump dump_;
  std::vector<std::size_t> first_;  // switch of each tier
};

class HtsimTopo final : public Importer {
 public:
  [[nodiscard]] std::string_view name() const override { return "htsim_topo"; }
  [[nodiscard]] std::string_view summary() const override {
    return ".topo file of htsim: a fat tree of two or three tiers";
  }
  // The head of two or more keys of its own before the first tier.
  [[nodiscard]] bool recognises(const Source& source) const override {
    std::set<std::string> seen;
    for (const std::string_view line :
         split(std::string_view(source.text).substr(0, 1 << 14), '\n')) {
      const auto words = split_whitespace(line);
      if (words.empty() || words[0][0] == '#') continue;
      const std::string key = to_lower(words[0]);
      if (key != "nodes" && key != "tiers" && key != "podsize") break;
      seen.insert(key);
    }
    return seen.size() >= 2;
  }
  [[nodiscard]] fabric::Fabric read(const Source& source,
                                    const ImportInputs& inputs) const override {
    const Topo topo = TopoFile(source).read();
    return build_network(TopoNetwork(topo, inputs).draw(), inputs);
  }
};

}  // namespace

const Importer& htsim_topo_importer() {
  static const HtsimTopo kImporter;
  return kImporter;
}

}  // namespace weft::import
