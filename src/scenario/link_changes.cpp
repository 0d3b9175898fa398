// Link changes of a scenario file: devices looked up, cables between them found, rates made shares
// of what the links were built for.
#include <fmt/format.h>

#include "base/text.h"
#include "scenario/session.h"

namespace weft::scenario {
namespace {

// Fabrics with more devices than this name an example instead of searching for the nearest.
constexpr std::size_t kSearchedNames = 4096;

class LinkChangeBuilder {
 public:
  LinkChangeBuilder(const ScenarioFile& scenario, const fabric::Fabric& fabric)
      : scenario_(scenario), fabric_(fabric) {}

  std::vector<engine::LinkChange> build() {
    for (const LinkChangeItem& item : scenario_.link_changes) add(item);
    diagnostics_.throw_if_any();
    return std::move(changes_);
  }

 private:
  std::optional<fabric::DeviceId> device(const TextAt& name) {
    const auto found = fabric_.find(name.text);
    if (found) return found;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(fabric_.device_count(), kSearchedNames); ++i)
      names.emplace_back(fabric_.name(fabric::DeviceId(i)));
    diagnostics_.add(name.where, fmt::format("there is no device '{}'", name.text),
                     suggest(name.text, names));
    return std::nullopt;
  }

  void add(const LinkChangeItem& item) {
    const auto from = device(item.from), to = device(item.to);
    if (!from || !to) return;
    bool any = false;
    for (const fabric::LinkId link : fabric_.out_links(*from)) {
      if (fabric_.to(link) != *to) continue;
      any = true;
      change(item, link);
      if (item.both) change(item, fabric::reverse(link));
    }
    if (any) return;
    diagnostics_.add(item.from.where,
                     fmt::format("no link joins {} and {}", item.from.text, item.to.text),
                     fabric_.out_links(*from).empty()
                         ? "choose a device that has links"
                         : fmt::format("there is for example {}",
                                       fabric_.link_name(fabric_.out_links(*from).front())));
  }

  void change(const LinkChangeItem& item, fabric::LinkId link) {
    const BitRate built = fabric_.link_class(link).raw_rate;
    if (item.rate && *item.rate > built) {
      diagnostics_.add(item.where,
                       fmt::format("{} was built for {}, less than {}", fabric_.link_name(link),
                                   to_text(built), to_text(*item.rate)),
                       "a link change takes rates up to the link's own; share: 1 restores it");
      return;
    }
    const double share =
        item.rate ? item.rate->bytes_per_second() / built.bytes_per_second() : item.share;
    changes_.push_back({Instant::at(item.at), link, share});
  }

  const ScenarioFile& scenario_;
  const fabric::Fabric& fabric_;
  std::vector<engine::LinkChange> changes_;
  Diagnostics diagnostics_;
};

}  // namespace

std::vector<engine::LinkChange> build_link_changes(const ScenarioFile& scenario,
                                                   const fabric::Fabric& fabric,
                                                   const engine::Engine& engine) {
  if (!scenario.link_changes.empty() && !engine.changes_links())
    throw InputError(scenario.link_changes.front().where,
                     fmt::format("the {} engine has no link changes", engine.name()),
                     "use engine: flow, or leave link_changes out");
  return LinkChangeBuilder(scenario, fabric).build();
}

}  // namespace weft::scenario
