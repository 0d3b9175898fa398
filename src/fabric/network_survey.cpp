#include "fabric/network_survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/text.h"

namespace weft::fabric {

namespace {

using Survey = NetworkSurvey;

template <class Key>
Key most_frequent(const std::map<Key, std::size_t>& counts) {
  Key best{};
  std::size_t most = 0;
  for (const auto& [key, count] : counts) {
    if (count < most) continue;
    most = count;
    best = key;  // the largest of equals
  }
  return best;
}

bool is_switch(DeviceKind kind) {
  return kind == DeviceKind::network_switch || kind == DeviceKind::gateway ||
         kind == DeviceKind::ocs;
}

class Surveyor {
 public:
  explicit Surveyor(const Fabric& fabric) : f_(fabric) {}

  Survey run() {
    collect();
    describe_tiers();
    describe_speeds();
    find_planes();
    find_rails();
    find_missing();
    find_few_uplinks();
    find_oversubscription();
    find_few_nics();
    find_name_gaps();
    return std::move(out_);
  }

 private:
  void find(std::string kind, std::string text) {
    out_.findings.push_back({std::move(kind), std::move(text)});
  }

  void collect() {
    for (const DeviceKind kind : {DeviceKind::network_switch, DeviceKind::gateway, DeviceKind::ocs})
      for (const DeviceId d : f_.of_kind(kind)) switches_.push_back(d);
    out_.switches = switches_.size();
    out_.hosts = f_.server_count();
    out_.nics = f_.of_kind(DeviceKind::nic).size();
    out_.gpus = f_.of_kind(DeviceKind::gpu).size();
    for (std::size_t l = 0; l < f_.link_count(); l += 2) {
      const LinkId link(l);
      if (!is_network(f_.link_class(link).kind)) continue;
      DeviceId a = f_.from(link), b = f_.to(link);
      if (!is_switch(f_.kind(a)) && !is_switch(f_.kind(b))) continue;
      ++out_.cables;
      if (!is_switch(f_.kind(a)) || (is_switch(f_.kind(b)) && tier(a) > tier(b))) std::swap(a, b);
      if (!is_switch(f_.kind(b))) std::swap(a, b);
      add_cable(a, b, link);
    }
  }

  // `a` is the lower end, or a NIC.
  void add_cable(DeviceId a, DeviceId b, LinkId link) {
    const bool host = !is_switch(f_.kind(a));
    cables_.push_back({a, b, link, host});
    ++used_[b];
    if (host) {
      ++hosts_[b];
      down_[b] += f_.link_class(link).raw_rate.gbps();
      return;
    }
    ++used_[a];
    ++between_[{a, b}];
    if (tier(a) < tier(b)) {
      ++uplinks_[a];
      up_[a] += f_.link_class(link).raw_rate.gbps();
    }
  }

  [[nodiscard]] int tier(DeviceId d) const { return f_.info(d).tier; }
  static std::int64_t get(const std::map<DeviceId, std::int64_t>& counts, DeviceId d) {
    const auto at = counts.find(d);
    return at == counts.end() ? 0 : at->second;
  }

  void describe_tiers() {
    std::map<int, Survey::Tier> tiers;
    for (const DeviceId d : switches_) {
      Survey::Tier& t = tiers[tier(d)];
      const bool first = t.switches++ == 0;
      t.tier = tier(d);
      const int radix = f_.device_class(d).radix;
      if (std::find(t.radixes.begin(), t.radixes.end(), radix) == t.radixes.end())
        t.radixes.push_back(radix);
      const auto widen = [first](Survey::Range& range, std::int64_t value) {
        range.least = first ? value : std::min(range.least, value);
        range.most = std::max(range.most, value);
      };
      widen(t.ports_used, get(used_, d));
      widen(t.hosts, get(hosts_, d));
      widen(t.uplinks, get(uplinks_, d));
      t.cables_up += static_cast<std::size_t>(get(uplinks_, d));
    }
    for (auto& [number, t] : tiers) {
      std::sort(t.radixes.begin(), t.radixes.end());
      out_.tiers.push_back(std::move(t));
    }
  }

  [[nodiscard]] std::pair<int, int> level(const auto& cable) const {
    return {cable.host ? 0 : tier(cable.a), tier(cable.b)};
  }
  [[nodiscard]] static std::string level_text(std::pair<int, int> level) {
    return level.first == 0 ? fmt::format("hosts - tier {}", level.second)
                            : fmt::format("tier {} - tier {}", level.first, level.second);
  }

  // A cable is slow beside the rate that most cables between the same two tiers have.
  void describe_speeds() {
    std::map<std::pair<int, int>, std::map<std::pair<BitRate, std::string>, std::size_t>> found;
    for (const Cable& c : cables_) {
      const LinkClass& link = f_.link_class(c.link);
      ++found[level(c)][{link.raw_rate, link.name}];
    }
    std::map<std::pair<int, int>, BitRate> usual;
    for (const auto& [at, kinds] : found) {
      usual[at] = most_frequent(kinds).first;
      for (auto kind = kinds.rbegin(); kind != kinds.rend(); ++kind) {
        out_.speeds.push_back(
            {level_text(at), kind->first.second, kind->first.first, kind->second});
      }
    }
    for (const Cable& c : cables_) {
      const LinkClass& link = f_.link_class(c.link);
      const BitRate expected = usual[level(c)];
      if (link.raw_rate >= expected) continue;
      find("slow_link",
           fmt::format("{} - {} runs {} ({}), its peers {}", f_.name(c.a), f_.name(c.b), link.name,
                       to_text(link.raw_rate), to_text(expected)));
    }
  }

  DeviceId root_of(DeviceId d, std::map<DeviceId, DeviceId>& parent) const {
    while (parent.at(d) != d) d = parent[d] = parent.at(parent.at(d));
    return d;
  }

  void find_planes() {
    std::map<DeviceId, DeviceId> parent;
    for (const DeviceId d : switches_) parent[d] = d;
    for (const auto& [pair, count] : between_)
      parent[root_of(pair.first, parent)] = root_of(pair.second, parent);
    std::map<DeviceId, std::size_t> sizes;
    for (const DeviceId d : switches_) ++sizes[root_of(d, parent)];
    for (const auto& [root, size] : sizes) out_.planes.push_back(size);
    std::sort(out_.planes.rbegin(), out_.planes.rend());
    if (out_.planes.size() > 1 && out_.planes.front() != out_.planes.back()) {
      find("unequal_planes",
           fmt::format("{} parts without a cable between them, of {} to {} switches",
                       out_.planes.size(), out_.planes.back(), out_.planes.front()));
    }
  }

  [[nodiscard]] std::optional<int> rail_of(DeviceId nic) const {
    const std::string_view label = f_.label(nic, "rail");
    if (!label.empty()) {
      const auto number = parse_int(label);
      if (number) return static_cast<int>(*number);
    }
    if (!f_.label(nic, "id").empty()) return std::nullopt;
    return static_cast<int>(f_.info(nic).local_index);
  }

  // Leaves whose NICs (nine of ten that name one) have one number are leaves of that rail.
  void find_rails() {
    std::map<DeviceId, std::map<int, std::size_t>> by_leaf;
    for (const Cable& c : cables_) {
      const auto rail = c.host && tier(c.b) == 1 ? rail_of(c.a) : std::nullopt;
      if (rail) ++by_leaf[c.b][*rail];
    }
    std::map<int, Survey::Rail> rails;
    std::size_t mixed = 0;
    for (const auto& [leaf, counts] : by_leaf) {
      const int rail = most_frequent(counts);
      std::size_t all = 0;
      for (const auto& [number, count] : counts) all += count;
      if (10 * counts.at(rail) < 9 * all) ++mixed;
      rails[rail].number = rail;
      ++rails[rail].leaves;
      rails[rail].nics += static_cast<std::size_t>(get(hosts_, leaf));
    }
    if (rails.size() < 2 || 10 * mixed > by_leaf.size()) return;
    for (const auto& [number, rail] : rails) out_.rails.push_back(rail);
  }

  // Connected parts of the cables between tiers t and t+1.
  void find_missing() {
    std::map<DeviceId, DeviceId> parent;
    for (std::size_t t = 0; t + 1 < out_.tiers.size(); ++t) {
      const int low = out_.tiers[t].tier, high = out_.tiers[t + 1].tier;
      parent.clear();
      for (const DeviceId d : switches_) {
        if (tier(d) == low || tier(d) == high) parent[d] = d;
      }
      for (const auto& [pair, count] : between_) {
        if (tier(pair.first) == low && tier(pair.second) == high)
          parent[root_of(pair.first, parent)] = root_of(pair.second, parent);
      }
      std::map<DeviceId, std::pair<std::vector<DeviceId>, std::vector<DeviceId>>> parts;
      for (const auto& [d, up] : std::map(parent)) {
        auto& part = parts[root_of(d, parent)];
        (tier(d) == low ? part.first : part.second).push_back(d);
      }
      for (const auto& [root, part] : parts) compare_pairs(part.first, part.second);
    }
  }

  void compare_pairs(const std::vector<DeviceId>& lower, const std::vector<DeviceId>& upper) {
    std::map<std::int64_t, std::size_t> counts;
    for (const DeviceId a : lower) {
      for (const DeviceId b : upper) ++counts[pair_cables(a, b)];
    }
    const std::int64_t usual = most_frequent(counts);
    const std::size_t pairs = lower.size() * upper.size();
    if (usual == 0 || 2 * counts[usual] <= pairs) return;
    out_.expected_cables += usual * static_cast<std::int64_t>(pairs);
    for (const DeviceId a : lower) {
      for (const DeviceId b : upper) {
        const std::int64_t present = pair_cables(a, b);
        if (present >= usual) continue;
        out_.missing_cables += usual - present;
        out_.missing.push_back({std::string(f_.name(a)), std::string(f_.name(b)), present, usual});
      }
    }
  }

  [[nodiscard]] std::int64_t pair_cables(DeviceId a, DeviceId b) const {
    const auto at = between_.find({a, b});
    return at == between_.end() ? 0 : at->second;
  }

  void find_few_uplinks() {
    if (out_.missing_cables > 0) {
      find("missing_links",
           fmt::format("{} of {} cables between tiers are missing, in {} pairs of switches",
                       out_.missing_cables, out_.expected_cables, out_.missing.size()));
    }
    for (const Survey::Tier& t : out_.tiers) {
      std::map<std::int64_t, std::size_t> counts;
      for (const DeviceId d : switches_) {
        if (tier(d) == t.tier) ++counts[get(uplinks_, d)];
      }
      const std::int64_t usual = most_frequent(counts);
      if (2 * counts[usual] <= t.switches) continue;
      for (const DeviceId d : switches_) {
        if (tier(d) != t.tier || get(uplinks_, d) >= usual) continue;
        find("few_uplinks",
             fmt::format("{} has {} uplinks, its peers {}", f_.name(d), get(uplinks_, d), usual));
      }
    }
  }

  void find_oversubscription() {
    for (const DeviceId d : switches_) {
      const auto up = up_.find(d), down = down_.find(d);
      if (tier(d) != 1 || up == up_.end() || down == down_.end()) continue;
      const double ratio = down->second / up->second;
      if (ratio <= out_.worst_oversubscription) continue;
      out_.worst_oversubscription = ratio;
      out_.worst_leaf = f_.name(d);
    }
  }

  // Hosts of a single nameless adapter are no measure.
  void find_few_nics() {
    std::map<std::int64_t, std::size_t> counts;
    std::vector<std::pair<ServerId, std::int64_t>> hosts;
    for (std::size_t s = 0; s < f_.server_count(); ++s) {
      const auto nics = f_.of_kind(DeviceKind::nic, ServerId(s));
      if (nics.empty()) continue;
      const bool nameless = nics.size() == 1 && !f_.label(nics[0], "id").empty() &&
                            f_.label(nics[0], "nic_name").empty();
      if (nameless) continue;
      hosts.emplace_back(ServerId(s), static_cast<std::int64_t>(nics.size()));
      ++counts[hosts.back().second];
    }
    out_.usual_nics = most_frequent(counts);
    std::map<std::int64_t, std::vector<std::string>> fewer;
    for (const auto& [server, nics] : hosts) {
      if (nics >= out_.usual_nics) continue;
      const std::string_view name = f_.name(DeviceId(f_.devices_of(server).first));
      fewer[nics].emplace_back(name.substr(0, name.find('/')));
    }
    for (const auto& [nics, names] : fewer) {
      find("few_nics", fmt::format("{} {} {} of {} NICs: {}", names.size(),
                                   names.size() == 1 ? "host shows" : "hosts show", nics,
                                   out_.usual_nics, join(names, ", ")));
    }
  }

  // "r01-P1-IBLEAF-03-02": the word before the last two numbers, and those numbers.
  struct GridName {
    std::string word, first, second;
  };
  static std::optional<GridName> grid_name(std::string_view name) {
    const auto digits = [&](std::size_t end) {
      std::size_t begin = end;
      while (begin > 0 && std::isdigit(static_cast<unsigned char>(name[begin - 1])) != 0) --begin;
      return begin;
    };
    const std::size_t second = digits(name.size());
    if (second == name.size() || second < 2) return std::nullopt;
    const std::size_t first_end = second - 1, first = digits(first_end);
    if (first == first_end || first < 2) return std::nullopt;
    std::size_t word = first - 1;
    while (word > 0 && std::isalpha(static_cast<unsigned char>(name[word - 1])) != 0) --word;
    if (word == first - 1) return std::nullopt;
    return GridName{std::string(name.substr(word, first - 1 - word)),
                    std::string(name.substr(first, first_end - first)),
                    std::string(name.substr(second))};
  }

  // Names that fill a grid of two numbers but for one place in ten have gaps there.
  void find_name_gaps() {
    std::map<std::string, std::set<std::pair<std::string, std::string>>> grids;
    for (const DeviceId d : switches_) {
      if (const auto name = grid_name(f_.name(d)))
        grids[name->word].insert({name->first, name->second});
    }
    for (const auto& [word, places] : grids) {
      std::set<std::string> rows, columns;
      for (const auto& [row, column] : places) {
        rows.insert(row);
        columns.insert(column);
      }
      const std::size_t all = rows.size() * columns.size();
      if (rows.size() < 2 || columns.size() < 2 || 10 * places.size() < 9 * all) continue;
      for (const std::string& row : rows) {
        for (const std::string& column : columns) {
          if (places.contains({row, column})) continue;
          find("name_gap", fmt::format("{}-{}-{} is absent from a grid of {} x {} names", word, row,
                                       column, rows.size(), columns.size()));
        }
      }
    }
  }

  struct Cable {
    DeviceId a, b;
    LinkId link;
    bool host = false;
  };
  const Fabric& f_;
  Survey out_;
  std::vector<DeviceId> switches_;
  std::vector<Cable> cables_;
  std::map<DeviceId, std::int64_t> used_, hosts_, uplinks_;
  std::map<DeviceId, double> up_, down_;
  std::map<std::pair<DeviceId, DeviceId>, std::int64_t> between_;
};

}  // namespace

NetworkSurvey survey_network(const Fabric& fabric) {
  return Surveyor(fabric).run();
}

}  // namespace weft::fabric
