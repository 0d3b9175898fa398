// Work items of a scenario file turned into ops: ranks and names resolved, patterns expanded,
// repetitions chained.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>

#include "base/random.h"
#include "base/text.h"
#include "flow_list/flow_list.h"
#include "scenario/session.h"

namespace weft::scenario {
namespace {

using work::OpId;
using work::RankId;

class WorkBuilder {
 public:
  WorkBuilder(const ScenarioFile& scenario, const fabric::Fabric& fabric)
      : scenario_(scenario), fabric_(fabric), work_(work_on_all_gpus(fabric)) {}

  work::Work build() {
    for (const WorkItem& item : scenario_.work) add(item);
    diagnostics_.throw_if_any();
    return std::move(work_);
  }

 private:
  [[nodiscard]] std::uint32_t rank_count() const {
    return static_cast<std::uint32_t>(work_.rank_gpu.size());
  }

  std::vector<std::uint32_t> ranks_of(const WorkItem& item) {
    std::vector<std::uint32_t> all(rank_count());
    std::iota(all.begin(), all.end(), 0u);
    if (!item.ranks || item.ranks->text == "all") return all;
    auto ranks = parse_rank_list(item.ranks->text, rank_count());
    if (ranks) return *ranks;
    diagnostics_.add(
        item.ranks->where, fmt::format("'{}' is not a list of ranks here", item.ranks->text),
        fmt::format("write ranks such as 0-7,12; the cluster has ranks 0 to {}", rank_count() - 1));
    return {};
  }

  // A rank number or the name of a GPU.
  std::optional<std::uint32_t> rank_of(const TextAt& end) {
    if (const auto number = parse_int(end.text)) {
      if (*number >= 0 && *number < rank_count()) return static_cast<std::uint32_t>(*number);
      diagnostics_.add(end.where, fmt::format("there is no rank {}", *number),
                       fmt::format("the cluster has ranks 0 to {}", rank_count() - 1));
      return std::nullopt;
    }
    const auto gpus = fabric_.of_kind(fabric::DeviceKind::gpu);
    const auto device = fabric_.find(end.text);
    const auto found = device ? std::find(gpus.begin(), gpus.end(), *device) : gpus.end();
    if (found != gpus.end()) return static_cast<std::uint32_t>(found - gpus.begin());
    std::vector<std::string> names;
    for (fabric::DeviceId gpu : gpus) names.emplace_back(fabric_.name(gpu));
    diagnostics_.add(end.where, fmt::format("there is no GPU '{}'", end.text),
                     names.size() <= 64 ? suggest(end.text, names)
                                        : fmt::format("GPUs are named like {}", names.front()));
    return std::nullopt;
  }

  std::vector<OpId> dependencies(const WorkItem& item) {
    std::vector<OpId> after;
    for (const TextAt& id : item.after) {
      const auto& ended_by = last_ops_[id.text];
      after.insert(after.end(), ended_by.begin(), ended_by.end());
    }
    return after;
  }

  OpId add_op(const WorkItem& item,
              std::variant<work::Compute, work::Transfer, work::CollectiveOp> what,
              std::vector<OpId> after) {
    work_.ops.push_back({std::move(what), Instant::at(item.at), std::move(after),
                         item.id.empty() ? item.name.text : item.id});
    return OpId(work_.ops.size() - 1);
  }

  void add(const WorkItem& item) {
    std::vector<OpId> after = dependencies(item);
    for (int i = 0; i < item.repeat; ++i) {
      std::vector<OpId> ended = add_once(item, after);
      if (!item.id.empty()) last_ops_[item.id] = ended;
      after = std::move(ended);
    }
  }

  std::vector<OpId> add_once(const WorkItem& item, const std::vector<OpId>& after) {
    switch (item.form) {
      case WorkItem::Form::collective:
        return add_collective(item, after);
      case WorkItem::Form::transfer: {
        const auto from = rank_of(item.from), to = rank_of(item.to);
        if (!from || !to) return {};
        return {add_op(item, work::Transfer{RankId(*from), RankId(*to), item.size}, after)};
      }
      case WorkItem::Form::compute: {
        std::vector<OpId> ops;
        for (std::uint32_t rank : ranks_of(item)) {
          ops.push_back(add_op(item, work::Compute{RankId(rank), item.time}, after));
        }
        return ops;
      }
      case WorkItem::Form::pattern:
        return add_pattern(item, after);
      case WorkItem::Form::matrix:
        return add_matrix(item, after);
    }
    return {};
  }

  std::vector<OpId> add_collective(const WorkItem& item, const std::vector<OpId>& after) {
    const auto kind = work::parse_collective(item.name.text);
    if (!kind) {
      diagnostics_.add(item.name.where, fmt::format("there is no collective '{}'", item.name.text),
                       suggest(item.name.text, work::collective_names()));
      return {};
    }
    check_names(item);
    work::CollectiveOp op;
    op.kind = *kind;
    op.size = item.size;
    op.group = group_of(ranks_of(item));
    if (item.moe) add_moe(item, op);
    op.root = RankId(static_cast<std::size_t>(item.root));
    op.algorithm = item.algorithm ? item.algorithm->text : "";
    op.protocol = item.protocol ? item.protocol->text : "";
    op.channels = item.channels;
    if (op.root.index() >= work_.groups[op.group.index()].size()) {
      diagnostics_.add(
          item.where, fmt::format("root {} is not in the group", item.root),
          fmt::format("the group has ranks 0 to {}", work_.groups[op.group.index()].size() - 1));
    }
    return {add_op(item, op, after)};
  }

  void add_moe(const WorkItem& item, work::CollectiveOp& op) {
    op.moe = item.moe;
    if (!item.moe_seed_given) op.moe->seed = static_cast<std::uint64_t>(scenario_.seed);
    op.size = op.moe->size();
    const auto ranks = static_cast<int>(work_.groups[op.group.index()].size());
    for (const std::string& fault : work::validate(*op.moe, ranks, 0))
      diagnostics_.add(item.where, fault, "change tokens, experts, top_k or ranks");
  }

  void check_names(const WorkItem& item) {
    if (item.algorithm && collective::find_algorithm(item.algorithm->text) == nullptr) {
      std::vector<std::string> names;
      for (const collective::Algorithm* row : collective::all_algorithms())
        names.emplace_back(row->name());
      diagnostics_.add(item.algorithm->where,
                       fmt::format("there is no algorithm '{}'", item.algorithm->text),
                       suggest(item.algorithm->text, names));
    }
    if (item.protocol && !collective::parse_protocol(item.protocol->text)) {
      diagnostics_.add(item.protocol->where,
                       fmt::format("there is no protocol '{}'", item.protocol->text),
                       "one of: ll, ll128, simple");
    }
  }

  work::GroupId group_of(const std::vector<std::uint32_t>& ranks) {
    std::vector<RankId> ids;
    for (std::uint32_t rank : ranks) ids.emplace_back(rank);
    const auto found = std::find(work_.groups.begin(), work_.groups.end(), ids);
    if (found != work_.groups.end()) {
      return work::GroupId(static_cast<std::size_t>(found - work_.groups.begin()));
    }
    work_.groups.push_back(std::move(ids));
    return work::GroupId(work_.groups.size() - 1);
  }

  std::vector<OpId> add_pattern(const WorkItem& item, const std::vector<OpId>& after) {
    check_pattern_keys(item);
    const std::vector<std::uint32_t> ranks = ranks_of(item);
    if (item.name.text == "ring_chunks") return add_ring_chunks(item, ranks, after);
    if (item.at_once > 0) return add_shuffled_pairs(item, ranks, after);
    const auto pairs = pattern_pairs(item, ranks);
    std::vector<OpId> ops;
    for (const auto& [from, to] : pairs) {
      ops.push_back(add_op(item, work::Transfer{RankId(from), RankId(to), item.size}, after));
    }
    return ops;
  }

  void check_pattern_keys(const WorkItem& item) {
    if (item.at_once > 0 && item.name.text != "all_pairs")
      diagnostics_.add(item.where, "at_once is of the pattern all_pairs", "remove it");
    if (item.steps > 0 && item.name.text != "ring_chunks")
      diagnostics_.add(item.where, "steps is of the pattern ring_chunks", "remove it");
  }

  // Every rank sends to every other one, in a random order of its own, `at_once` flows at a time:
  // when one has ended, whichever it is, the next begins.
  std::vector<OpId> add_shuffled_pairs(const WorkItem& item,
                                       const std::vector<std::uint32_t>& ranks,
                                       const std::vector<OpId>& after) {
    std::vector<OpId> ops;
    for (const std::uint32_t from : ranks) {
      std::vector<std::uint32_t> others;
      for (const std::uint32_t to : ranks)
        if (to != from) others.push_back(to);
      RandomStream random(static_cast<std::uint64_t>(scenario_.seed), work_.ops.size());
      for (std::size_t i = others.size(); i > 1; --i)
        std::swap(others[i - 1], others[random.below(i)]);
      const work::TriggerId trigger(work_.triggers.size());
      work_.triggers.push_back({1, true, {}});
      for (std::size_t i = 0; i < others.size(); ++i) {
        const bool waits = i >= static_cast<std::size_t>(item.at_once);
        ops.push_back(add_op(item, work::Transfer{RankId(from), RankId(others[i]), item.size},
                             waits ? std::vector<OpId>{} : after));
        work_.ops.back().fires.push_back(trigger);
        if (waits) work_.triggers.back().targets.push_back(ops.back());
      }
    }
    return ops;
  }

  // A chunk starts at every rank and goes round the ring hop by hop: rank i sends chunk c on when
  // it has come from rank i-1. 2 (n-1) hops are those of an all-reduce.
  std::vector<OpId> add_ring_chunks(const WorkItem& item, const std::vector<std::uint32_t>& ranks,
                                    const std::vector<OpId>& after) {
    const std::size_t n = ranks.size();
    std::vector<OpId> ops;
    if (n < 2) return ops;
    const auto steps = item.steps > 0 ? static_cast<std::size_t>(item.steps) : 2 * (n - 1);
    for (std::size_t chunk = 0; chunk < n; ++chunk) {
      for (std::size_t step = 0; step < steps; ++step) {
        const std::size_t at = (chunk + step) % n;
        const work::Transfer hop{RankId(ranks[at]), RankId(ranks[(at + 1) % n]), item.size};
        ops.push_back(add_op(item, hop, step == 0 ? after : std::vector<OpId>{ops.back()}));
      }
    }
    return ops;
  }

  // A connection matrix, from the folder of the scenario.
  std::vector<OpId> add_matrix(const WorkItem& item, const std::vector<OpId>& after) {
    const auto path = std::filesystem::path(scenario_.file).parent_path() / item.name.text;
    const std::string file = path.string();
    if (!std::filesystem::exists(path)) {
      diagnostics_.add(item.name.where, fmt::format("there is no file {}", file),
                       "matrix takes a .cm file, from the folder of the scenario");
      return {};
    }
    const flow_list::FlowList list = flow_list::read_htsim_cm(read_file(file), file);
    flow_list::Placement placement;
    placement.after = after;
    placement.at = item.at;
    for (const std::uint32_t rank : ranks_of(item)) placement.rank_of_node.emplace_back(rank);
    if (placement.rank_of_node.size() < list.nodes) {
      diagnostics_.add(item.where,
                       fmt::format("{} has {} nodes, but there are {} ranks for them", file,
                                   list.nodes, placement.rank_of_node.size()),
                       "use a larger cluster, or more ranks");
      return {};
    }
    if (!read_unit(item, list, placement)) return {};
    return flow_list::add_to(work_, list, placement);
  }

  bool read_unit(const WorkItem& item, const flow_list::FlowList& list,
                 flow_list::Placement& placement) {
    static const std::vector<std::string> kUnits = {"ps", "ns", "us", "ms"};
    if (item.start_unit) {
      const auto at = std::find(kUnits.begin(), kUnits.end(), item.start_unit->text);
      if (at == kUnits.end()) {
        diagnostics_.add(item.start_unit->where,
                         fmt::format("'{}' is no unit of start times", item.start_unit->text),
                         suggest(item.start_unit->text, kUnits));
        return false;
      }
      placement.unit = *parse_duration("1" + *at);
      return true;
    }
    const flow_list::Flow* timed = list.first_timed();
    if (timed == nullptr) return true;
    diagnostics_.add(timed->where,
                     fmt::format("start {} has no unit: simulators read microseconds, generators "
                                 "write picoseconds",
                                 timed->start),
                     fmt::format("add start_unit: us, or ps, to the matrix at line {} of {}",
                                 item.where.line, item.where.file));
    return false;
  }

  using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  Pairs pattern_pairs(const WorkItem& item, const std::vector<std::uint32_t>& ranks) {
    static const std::vector<std::string> kNames = {"permutation", "incast", "ring", "all_pairs",
                                                    "ring_chunks"};
    const std::size_t n = ranks.size();
    Pairs pairs;
    if (item.name.text == "permutation") {
      const auto target = derangement(n);
      for (std::size_t i = 0; i < n; ++i) pairs.emplace_back(ranks[i], ranks[target[i]]);
    } else if (item.name.text == "incast") {
      for (std::size_t i = 1; i < n; ++i) pairs.emplace_back(ranks[i], ranks[0]);
    } else if (item.name.text == "ring") {
      for (std::size_t i = 0; i < n; ++i) pairs.emplace_back(ranks[i], ranks[(i + 1) % n]);
    } else if (item.name.text == "all_pairs") {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          if (i != j) pairs.emplace_back(ranks[i], ranks[j]);
        }
      }
    } else {
      diagnostics_.add(item.name.where, fmt::format("there is no pattern '{}'", item.name.text),
                       suggest(item.name.text, kNames));
    }
    return pairs;
  }

  // A random permutation without fixed points: one random cycle (Sattolo), from the scenario's
  // seed.
  [[nodiscard]] std::vector<std::size_t> derangement(std::size_t n) const {
    std::vector<std::size_t> target(n);
    std::iota(target.begin(), target.end(), std::size_t{0});
    RandomStream random(static_cast<std::uint64_t>(scenario_.seed), work_.ops.size());
    for (std::size_t i = n; i > 1; --i) std::swap(target[i - 1], target[random.below(i - 1)]);
    return target;
  }

  const ScenarioFile& scenario_;
  const fabric::Fabric& fabric_;
  work::Work work_;
  Diagnostics diagnostics_;
  std::map<std::string, std::vector<OpId>> last_ops_;
};

}  // namespace

work::Work work_on_all_gpus(const fabric::Fabric& fabric, std::optional<std::uint32_t> gpus) {
  work::Work work;
  const auto available = static_cast<std::uint32_t>(fabric.of_kind(fabric::DeviceKind::gpu).size());
  work.rank_gpu.resize(std::min(available, gpus.value_or(available)));
  std::iota(work.rank_gpu.begin(), work.rank_gpu.end(), 0u);
  std::vector<RankId> everyone;
  for (std::size_t rank = 0; rank < work.rank_gpu.size(); ++rank) everyone.emplace_back(rank);
  work.groups.push_back(std::move(everyone));
  return work;
}

work::Work build_work(const ScenarioFile& scenario, const fabric::Fabric& fabric) {
  return WorkBuilder(scenario, fabric).build();
}

}  // namespace weft::scenario
