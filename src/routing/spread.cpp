// Routes::spread: a flow's bytes split device by device over next links. All next links of a vertex
// lead one link nearer, so vertices are worked off by distance, the farthest first, and each is met
// once with all that arrived at it.
#include <algorithm>

#include "routing/routes_table.h"

namespace weft::routing {

using fabric::DeviceId;
using fabric::LinkId;

namespace {

// Detours that a flow's bytes are averaged over: all leaf groups, or so many of them, evenly
// spaced.
constexpr std::size_t kMostDetours = 1024;

struct Part {
  std::uint32_t vertex = 0;
  double amount = 0;
};

class Spreader {
 public:
  Spreader(const Routes& routes, const Routes::Table& table, std::vector<LinkFraction>& out)
      : equal_(routes.policy() != Policy::adaptive), t_(table), out_(out) {}

  // From a NIC's ports; what reaches an edge switch of the group of `to` goes on to `to`, or stays
  // in `arrived`.
  void from_nic(DeviceId from, DeviceId to, double amount, std::vector<Part>* arrived) {
    Routes::Table::Ways ways;
    t_.ways_of_nic(from, to, ways);
    std::vector<Part> parts;
    const double total = weight(ways.links);
    for (const LinkId link : ways.links) {
      const double share = amount * weight(link) / total;
      out_.push_back({link, share});
      if (t_.fabric.to(link) != to) parts.push_back({t_.vertex_after(kNoIndex, link), share});
    }
    from_vertices(parts, to, arrived);
  }

  void from_vertices(const std::vector<Part>& parts, DeviceId to, std::vector<Part>* arrived) {
    const std::uint32_t group = t_.group_of(to);
    std::vector<std::vector<Part>> at;  // by distance
    for (const Part& part : parts) add(at, t_.entry(part.vertex, group).distance, part);
    for (std::size_t distance = at.size(); distance-- > 1;) {
      std::vector<Part> level = merged(std::move(at[distance]));
      if (distance == 1 && arrived != nullptr) {
        arrived->insert(arrived->end(), level.begin(), level.end());
        return;
      }
      for (const Part& part : level) split(part, group, to, distance, at);
    }
  }

 private:
  [[nodiscard]] double weight(LinkId link) const {
    return equal_ ? 1.0 : static_cast<double>(t_.fabric.link_class(link).raw_rate.bps());
  }
  [[nodiscard]] double weight(const std::vector<LinkId>& links) const {
    double total = 0;
    for (const LinkId link : links) total += weight(link);
    return total;
  }

  static void add(std::vector<std::vector<Part>>& at, std::size_t distance, Part part) {
    if (at.size() <= distance) at.resize(distance + 1);
    at[distance].push_back(part);
  }

  static std::vector<Part> merged(std::vector<Part> parts) {
    std::sort(parts.begin(), parts.end(),
              [](const Part& a, const Part& b) { return a.vertex < b.vertex; });
    std::size_t end = 0;
    for (const Part& part : parts) {
      if (end > 0 && parts[end - 1].vertex == part.vertex) {
        parts[end - 1].amount += part.amount;
      } else {
        parts[end++] = part;
      }
    }
    parts.resize(end);
    return parts;
  }

  void split(const Part& part, std::uint32_t group, DeviceId to, std::size_t distance,
             std::vector<std::vector<Part>>& at) {
    t_.next_links(part.vertex, group, to, links_);
    const double total = weight(links_);
    for (const LinkId link : links_) {
      const double share = part.amount * weight(link) / total;
      out_.push_back({link, share});
      if (distance > 1) add(at, distance - 1, {t_.vertex_after(part.vertex, link), share});
    }
  }

  bool equal_;
  const Routes::Table& t_;
  std::vector<LinkFraction>& out_;
  std::vector<LinkId> links_;
};

// A link may carry bytes of both halves of many detours.
void merge_links(std::vector<LinkFraction>& links, std::size_t begin) {
  const auto first = links.begin() + static_cast<std::ptrdiff_t>(begin);
  std::sort(first, links.end(),
            [](const LinkFraction& a, const LinkFraction& b) { return a.link < b.link; });
  std::size_t end = begin;
  for (std::size_t i = begin; i < links.size(); ++i) {
    if (end > begin && links[end - 1].link == links[i].link) {
      links[end - 1].fraction += links[i].fraction;
    } else {
      links[end++] = links[i];
    }
  }
  links.resize(end);
}

}  // namespace

// Equal parts to the leaf groups that the source reaches, each sprayed there and then on.
void Routes::spread_over_detours(DeviceId from, DeviceId to, std::vector<LinkFraction>& out) const {
  const Table& t = *table_;
  const std::size_t begin = out.size();
  std::vector<std::uint32_t> groups;
  const std::size_t count = t.graph.group_count();
  const std::size_t step = (count + kMostDetours - 1) / kMostDetours;
  for (std::size_t group = from.index() % step; group < count; group += step) {
    const auto g = static_cast<std::uint32_t>(group);
    Table::Ways ways;
    t.ways_of_nic(from, t.graph.group_nic[g], ways);
    if (g != t.group_of(from) && g != t.group_of(to) && ways.distance > 0) groups.push_back(g);
  }
  Spreader spreader(*this, t, out);
  if (groups.empty()) {
    spreader.from_nic(from, to, 1, nullptr);
    return;
  }
  std::vector<Part> middle;
  for (const std::uint32_t group : groups) {
    spreader.from_nic(from, t.graph.group_nic[group], 1.0 / static_cast<double>(groups.size()),
                      &middle);
  }
  spreader.from_vertices(middle, to, nullptr);
  merge_links(out, begin);
}

bool Routes::spread(DeviceId from_nic, DeviceId to_nic, std::uint64_t entropy,
                    std::vector<LinkFraction>& out) const {
  if (from_nic == to_nic) return true;
  const Table& t = *table_;
  if (distance(from_nic, to_nic) < 0) return false;
  if (!spreads()) {
    std::vector<LinkId> links;
    path(from_nic, to_nic, entropy, links);
    for (const LinkId link : links) out.push_back({link, 1});
  } else if (policy() == Policy::valiant && t.group_of(from_nic) != t.group_of(to_nic)) {
    spread_over_detours(from_nic, to_nic, out);
  } else {
    Spreader(*this, t, out).from_nic(from_nic, to_nic, 1, nullptr);
  }
  return true;
}

}  // namespace weft::routing
