#include "import/slurm_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "import/hostlist.h"
#include "import/slurm_conf.h"

namespace weft::import {

namespace {

// Beyond the clusters there are; a typing error must not make room for more.
constexpr std::size_t kMostNames = 1 << 16;
constexpr int kMostTiers = 16;

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-.:").find(c) != std::string_view::npos;
  });
}

class TreeReader {
 public:
  TreeReader(const Source& source, const Catalogue& catalogue)
      : source_(source), catalogue_(catalogue), index_(source.text) {}

  SlurmTree read() && {
    for (const SlurmLine& line : read_slurm_lines(source_.text, index_, source_.file, diagnostics_))
      read_line(line);
    if (tree_.switches.empty() && diagnostics_.empty())
      diagnostics_.add({source_.file, 1, 1}, "no switch and no block in this file",
                       "write SwitchName=s1 Nodes=node[1-8]");
    diagnostics_.throw_if_any(source_.text);
    find_children();
    if (diagnostics_.empty()) set_tiers();
    if (diagnostics_.empty() && tree_.hosts.empty())
      diagnostics_.add(tree_.switches[0].where, "no switch has nodes", "write Nodes=node[1-8]");
    diagnostics_.throw_if_any(source_.text);
    if (tree_.blocks) join_blocks();
    return std::move(tree_);
  }

 private:
  [[nodiscard]] SourcePosition at(std::size_t offset) const {
    return index_.at(offset, source_.file);
  }
  void complain(std::size_t offset, std::string what, std::string hint) {
    diagnostics_.add(at(offset), std::move(what), std::move(hint));
  }

  void read_line(const SlurmLine& line) {
    const SlurmField& first = line.front();
    if (first.key == "switchname") return read_device(line, false);
    if (first.key == "blockname") return read_device(line, true);
    if (first.key == "blocksizes") return read_sizes(line);
    complain(
        first.key_at, fmt::format("a line cannot open with '{}'", first.written),
        suggest(first.written, std::vector<std::string>{"SwitchName", "BlockName", "BlockSizes"}));
  }

  // The plugin is one for the whole file: topology/tree or topology/block.
  void note_plugin(const SlurmField& field, bool block) {
    if (told_ && block != tree_.blocks)
      complain(field.key_at, "switches and blocks in one file",
               "topology/tree has SwitchName, topology/block has BlockName and BlockSizes");
    if (!told_) tree_.blocks = block;
    told_ = true;
  }

  void read_device(const SlurmLine& line, bool block) {
    const SlurmField& first = line.front();
    note_plugin(first, block);
    SlurmSwitch device{first.value, at(first.key_at), {}, {}, {}, 0};
    const char* what = block ? "block" : "switch";
    if (!is_name(first.value))
      complain(first.value_at, fmt::format("'{}' is no name of a {}", first.value, what),
               "letters, digits and . _ - : only; one line for each");
    if (const auto [old, added] = index_of_.emplace(first.value, tree_.switches.size()); !added)
      complain(first.value_at,
               fmt::format("{} {} is already on line {}", what, first.value,
                           tree_.switches[old->second].where.line),
               "give each one line");
    Pending pending{tree_.switches.size(), {}, 0};
    std::set<std::string> seen;
    for (std::size_t f = 1; f < line.size(); ++f) {
      const SlurmField& field = line[f];
      if (!seen.insert(field.key).second) {
        complain(field.key_at, fmt::format("'{}' stands twice on this line", field.written),
                 "keep one");
      } else if (field.key == "nodes") {
        read_nodes(field, device);
      } else if (field.key == "switches" && !block) {
        pending.names = names_of(field);
        pending.offset = field.value_at;
      } else if (field.key == "linkspeed" && !block) {
        read_speed(field, device);
      } else {
        complain(field.key_at, fmt::format("a {} has no '{}'", what, field.written),
                 suggest(field.written,
                         block ? std::vector<std::string>{"Nodes"}
                               : std::vector<std::string>{"Nodes", "Switches", "LinkSpeed"}));
      }
    }
    if (!block && seen.contains("nodes") && seen.contains("switches"))
      complain(first.key_at, fmt::format("switch {} has both nodes and switches", first.value),
               "Slurm takes one of the two; put the nodes under a leaf of their own");
    pending_.push_back(std::move(pending));
    tree_.switches.push_back(std::move(device));
  }

  std::vector<std::string> names_of(const SlurmField& field) {
    Hostlist list = expand_hostlist(field.value, kMostNames);
    names_ += list.names.size();
    if (names_ > 4 * kMostNames && list.fault.empty()) list.fault = "too many names in this file";
    const auto wrong = std::find_if_not(list.names.begin(), list.names.end(), is_name);
    if (list.fault.empty() && wrong != list.names.end())
      list.fault = fmt::format("'{}' is no name", *wrong);
    if (!list.fault.empty()) {
      complain(field.value_at, fmt::format("{}: {}", field.written, list.fault),
               "write a list of names such as node[001-128,130],login");
      return {};
    }
    return std::move(list.names);
  }

  void read_nodes(const SlurmField& field, SlurmSwitch& device) {
    const std::size_t before = diagnostics_.size();
    for (std::string& name : names_of(field)) {
      const auto [old, added] = leaf_of_.emplace(name, at(field.key_at).line);
      if (added && tree_.hosts.size() == kMostNames) {
        return complain(field.value_at, fmt::format("more than {} nodes", kMostNames),
                        "check the ranges");
      }
      if (added) {
        device.hosts.push_back(tree_.hosts.size());
        tree_.hosts.push_back(std::move(name));
      } else if (diagnostics_.size() == before) {  // one complaint a list
        complain(field.value_at,
                 fmt::format("node {} is already under the leaf of line {}", name, old->second),
                 "a node has one leaf");
      }
    }
  }

  // Slurm takes a number without a unit and makes nothing of it. People write Gbps.
  void read_speed(const SlurmField& field, SlurmSwitch& device) {
    if (const auto rate = parse_bit_rate(field.value)) {
      if (rate->bps() > 0) {
        device.rate = rate;
        return;
      }
    } else if (const auto number = parse_int(field.value); number && *number >= 0) {
      constexpr std::int64_t kMostGbps = 1'000'000;
      const auto rate = BitRate::gigabits_per_second(std::min(*number, kMostGbps));
      const bool known = catalogue_.network_link(fabric::LinkKind::infiniband, rate) ||
                         catalogue_.network_link(fabric::LinkKind::ethernet, rate);
      if (known) device.rate = rate;
      ++(known ? tree_.speeds_taken_as_gbps : tree_.speeds_passed_over);
      return;
    }
    complain(field.value_at, fmt::format("'{}' is no link speed", field.value),
             "write 400 or 400Gbps");
  }

  void read_sizes(const SlurmLine& line) {
    const SlurmField& first = line.front();
    note_plugin(first, true);
    if (line.size() > 1)
      complain(line[1].key_at, fmt::format("'{}' does not belong to BlockSizes", line[1].written),
               "give it a line of its own");
    if (!sizes_.empty()) return complain(first.key_at, "BlockSizes stands twice", "keep one line");
    for (const std::string_view piece : split(first.value, ',')) {
      const auto size = parse_int(trim(piece));
      const bool multiple =
          size && *size > 0 &&
          (sizes_.empty() || (*size > sizes_.back() && power_of_two_times(*size, sizes_.front())));
      if (!multiple)
        return complain(first.value_at, fmt::format("'{}' is no block size here", piece),
                        "sizes ascend, each a power of two times the first: 8,16,64");
      sizes_.push_back(*size);
    }
  }

  static bool power_of_two_times(std::int64_t size, std::int64_t base) {
    const std::int64_t times = size / base;
    return size % base == 0 && (times & (times - 1)) == 0;
  }

  void find_children() {
    std::vector<std::string> known;
    for (const SlurmSwitch& device : tree_.switches) known.push_back(device.name);
    for (const std::string& host : tree_.hosts) {
      if (const auto same = index_of_.find(host); same != index_of_.end())
        diagnostics_.add(tree_.switches[same->second].where,
                         fmt::format("{} is the name of a switch and of a node", host),
                         "rename the switch; Slurm does not mind its name");
    }
    for (const Pending& pending : pending_) {
      std::set<std::string_view> seen;
      for (const std::string& name : pending.names) {
        const auto found = index_of_.find(name);
        if (found == index_of_.end()) {
          complain(pending.offset, fmt::format("there is no switch {}", name),
                   suggest(name, known));
          break;  // one complaint a list
        }
        if (!seen.insert(name).second) {
          complain(pending.offset, fmt::format("switch {} is listed twice", name), "list it once");
          break;
        }
        tree_.switches[pending.index].children.push_back(found->second);
      }
    }
  }

  // From the leaves up; what is left over is in a circle or above one.
  void set_tiers() {
    std::vector<std::vector<std::size_t>> parents(tree_.switches.size());
    std::vector<std::size_t> waiting(tree_.switches.size()), ready;
    for (std::size_t s = 0; s < tree_.switches.size(); ++s) {
      SlurmSwitch& device = tree_.switches[s];
      for (const std::size_t child : device.children) parents[child].push_back(s);
      waiting[s] = device.children.size();
      if (!device.hosts.empty()) device.tier = 1;
      if (waiting[s] == 0) ready.push_back(s);
    }
    for (std::size_t i = 0; i < ready.size(); ++i) {
      const int below = tree_.switches[ready[i]].tier;
      for (const std::size_t up : parents[ready[i]]) {
        int& tier = tree_.switches[up].tier;
        if (below > 0) tier = std::max(tier, below + 1);
        if (--waiting[up] == 0) ready.push_back(up);
      }
    }
    if (ready.size() < tree_.switches.size()) return complain_of_circle(waiting);
    for (const SlurmSwitch& device : tree_.switches) {
      if (device.tier <= kMostTiers) continue;
      diagnostics_.add(device.where, fmt::format("more than {} tiers of switches", kMostTiers),
                       "check the Switches= lists");
      break;
    }
  }

  void complain_of_circle(const std::vector<std::size_t>& waiting) {
    const auto first = static_cast<std::size_t>(
        std::find_if(waiting.begin(), waiting.end(), [](std::size_t n) { return n > 0; }) -
        waiting.begin());
    std::vector<std::size_t> way;
    std::map<std::size_t, std::size_t> place;
    std::size_t at = first;
    while (place.emplace(at, way.size()).second) {
      way.push_back(at);
      const auto& children = tree_.switches[at].children;
      at = *std::find_if(children.begin(), children.end(),
                         [&](std::size_t child) { return waiting[child] > 0; });
    }
    std::string circle;
    for (std::size_t i = place[at]; i < way.size() && i < place[at] + 8; ++i)
      circle += tree_.switches[way[i]].name + " > ";
    diagnostics_.add(tree_.switches[at].where,
                     fmt::format("switch {} is beneath itself: {}{}", tree_.switches[at].name,
                                 circle, tree_.switches[at].name),
                     "remove one of these from a Switches= list");
  }

  // Blocks in the order of the file, `size` nodes of them under one switch; at last one on top.
  void join_blocks() {
    std::vector<std::size_t> level;
    for (std::size_t s = 0; s < tree_.switches.size(); ++s) {
      if (tree_.switches[s].tier > 0) level.push_back(s);
    }
    for (std::size_t i = 1; i < sizes_.size() && level.size() > 1; ++i) {
      const auto group = static_cast<std::size_t>(sizes_[i] / sizes_[i - 1]);
      level = joined(level, std::min(group, level.size()));
    }
    if (level.size() > 1) joined(level, level.size());
  }

  std::vector<std::size_t> joined(const std::vector<std::size_t>& level, std::size_t group) {
    std::vector<std::size_t> above;
    const int tier = tree_.switches[level[0]].tier + 1;
    for (std::size_t begin = 0; begin < level.size(); begin += group) {
      SlurmSwitch device;
      device.name = fmt::format("tier{}-{}", tier, above.size());
      while (index_of_.contains(device.name) || leaf_of_.contains(device.name)) device.name += "_";
      device.where = tree_.switches[level[begin]].where;
      device.tier = tier;
      const std::size_t end = std::min(begin + group, level.size());
      for (std::size_t i = begin; i < end; ++i) device.children.push_back(level[i]);
      above.push_back(tree_.switches.size());
      tree_.switches.push_back(std::move(device));
    }
    return above;
  }

  struct Pending {
    std::size_t index = 0;
    std::vector<std::string> names;  // of switches that may come later in the file
    std::size_t offset = 0;
  };

  const Source& source_;
  const Catalogue& catalogue_;
  LineIndex index_;
  Diagnostics diagnostics_;
  SlurmTree tree_;
  bool told_ = false;
  std::vector<std::int64_t> sizes_;
  std::vector<Pending> pending_;
  std::map<std::string, std::size_t, std::less<>> index_of_;  // of switches
  std::map<std::string, int, std::less<>> leaf_of_;           // line of a node's leaf
  std::size_t names_ = 0;
};

}  // namespace

SlurmTree read_slurm_tree(const Source& source, const Catalogue& catalogue) {
  return TreeReader(source, catalogue).read();
}

bool looks_like_slurm_topology(std::string_view text) {
  for (const std::string_view line : split(text.substr(0, 1 << 16), '\n')) {
    const std::string_view words = trim(line);
    if (words.empty() || words[0] == '#') continue;
    const std::string lower = to_lower(words.substr(0, words.find('=')));
    if (words.find('=') == std::string_view::npos) return false;
    const std::string_view key = trim(lower);
    return key == "switchname" || key == "blockname" || key == "blocksizes";
  }
  return false;
}

}  // namespace weft::import
