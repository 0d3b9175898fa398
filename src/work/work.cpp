#include "work/work.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"

namespace weft::work {
namespace {

constexpr std::array<std::string_view, kCollectiveKindCount> kNames = {
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast",    "reduce",
    "send_recv",  "gather",     "scatter",        "hypercube",  "moe_dispatch", "moe_combine"};

// Names other tools use for the same collective, without separators.
struct Alias {
  std::string_view text;
  CollectiveKind kind;
};
constexpr std::array<Alias, 10> kAliases = {{{"allreduce", CollectiveKind::all_reduce},
                                             {"allgather", CollectiveKind::all_gather},
                                             {"reducescatter", CollectiveKind::reduce_scatter},
                                             {"alltoall", CollectiveKind::all_to_all},
                                             {"a2a", CollectiveKind::all_to_all},
                                             {"bcast", CollectiveKind::broadcast},
                                             {"sendrecv", CollectiveKind::send_recv},
                                             {"p2p", CollectiveKind::send_recv},
                                             {"dispatch", CollectiveKind::moe_dispatch},
                                             {"combine", CollectiveKind::moe_combine}}};

class Validator {
 public:
  explicit Validator(const Work& work) : work_(work) {}

  std::vector<std::string> run() {
    check_groups();
    for (std::size_t i = 0; i < work_.ops.size(); ++i) check_op(i);
    check_triggers();
    if (faults_.empty()) check_cycle();
    return std::move(faults_);
  }

 private:
  [[nodiscard]] std::string op_name(std::size_t i) const {
    const std::string& label = work_.ops[i].label;
    return label.empty() ? fmt::format("op {}", i) : fmt::format("op {} ({})", i, label);
  }

  void check_rank(const std::string& who, RankId rank, std::string_view role) {
    if (rank.index() < work_.rank_gpu.size()) return;
    faults_.push_back(fmt::format("{}: {} rank {} does not exist, there are {} ranks", who, role,
                                  rank.value, work_.rank_gpu.size()));
  }

  void check_groups() {
    for (std::size_t g = 0; g < work_.groups.size(); ++g) {
      const std::string who = fmt::format("group {}", g);
      std::vector<bool> seen(work_.rank_gpu.size(), false);
      for (RankId rank : work_.groups[g]) {
        check_rank(who, rank, "member");
        if (rank.index() >= seen.size()) continue;
        if (seen[rank.index()])
          faults_.push_back(fmt::format("{}: rank {} is in it twice", who, rank.value));
        seen[rank.index()] = true;
      }
    }
  }

  void check_op(std::size_t i) {
    const Op& op = work_.ops[i];
    const std::string who = op_name(i);
    if (const auto* compute = std::get_if<Compute>(&op.what)) {
      check_rank(who, compute->rank, "its");
      if (compute->time < Duration())
        faults_.push_back(fmt::format("{}: computes for a negative time", who));
    } else if (const auto* transfer = std::get_if<Transfer>(&op.what)) {
      check_transfer(who, *transfer);
    } else {
      check_collective(who, std::get<CollectiveOp>(op.what));
    }
    for (OpId after : op.after) {
      if (after.index() >= work_.ops.size())
        faults_.push_back(
            fmt::format("{}: waits for op {}, which does not exist", who, after.value));
      else if (after.index() == i)
        faults_.push_back(fmt::format("{}: waits for itself", who));
    }
    for (TriggerId trigger : op.fires)
      if (trigger.index() >= work_.triggers.size())
        faults_.push_back(
            fmt::format("{}: fires trigger {}, which does not exist", who, trigger.value));
  }

  void check_triggers() {
    std::vector<bool> targeted(work_.ops.size(), false);
    for (std::size_t t = 0; t < work_.triggers.size(); ++t) {
      for (const OpId target : work_.triggers[t].targets) {
        if (target.index() >= work_.ops.size()) {
          faults_.push_back(
              fmt::format("trigger {}: starts op {}, which does not exist", t, target.value));
          continue;
        }
        if (targeted[target.index()])
          faults_.push_back(fmt::format("{}: two triggers start it", op_name(target.index())));
        targeted[target.index()] = true;
      }
    }
  }

  void check_transfer(const std::string& who, const Transfer& transfer) {
    check_rank(who, transfer.from, "source");
    check_rank(who, transfer.to, "destination");
    if (transfer.from == transfer.to)
      faults_.push_back(fmt::format("{}: sends from rank {} to itself", who, transfer.from.value));
    if (transfer.size < Bytes()) faults_.push_back(fmt::format("{}: negative size", who));
  }

  void check_collective(const std::string& who, const CollectiveOp& op) {
    if (op.group.index() >= work_.groups.size()) {
      faults_.push_back(fmt::format("{}: group {} does not exist, there are {} groups", who,
                                    op.group.value, work_.groups.size()));
      return;
    }
    const auto& members = work_.groups[op.group.index()];
    if (members.size() < 2)
      faults_.push_back(fmt::format("{}: {} needs two ranks or more, group {} has {}", who,
                                    to_text(op.kind), op.group.value, members.size()));
    if (has_root(op.kind) && op.root.index() >= members.size())
      faults_.push_back(fmt::format("{}: root {} is not a place in group {} of {} ranks", who,
                                    op.root.value, op.group.value, members.size()));
    if (op.size < Bytes()) faults_.push_back(fmt::format("{}: negative size", who));
    if (is_moe(op.kind) && !op.moe)
      faults_.push_back(fmt::format("{}: the shape of the exchange is missing", who));
    if (is_moe(op.kind) && op.moe)
      for (const std::string& fault : validate(*op.moe, static_cast<int>(members.size()), 0))
        faults_.push_back(fmt::format("{}: {}", who, fault));
    if (op.channels < 0) faults_.push_back(fmt::format("{}: negative number of channels", who));
  }

  // Every op ends in turn, as if it took no time. Which targets a trigger starts does not depend on
  // the order in which it is activated, so what is left over can never start.
  void check_cycle() {
    const std::size_t n = work_.ops.size();
    std::vector<std::uint32_t> open(n), activated(work_.triggers.size(), 0);
    std::vector<std::vector<std::uint32_t>> next(n);
    std::vector<std::uint32_t> ready;
    for (const Trigger& trigger : work_.triggers)
      for (const OpId target : trigger.targets) ++open[target.index()];
    for (std::uint32_t i = 0; i < n; ++i) {
      open[i] += static_cast<std::uint32_t>(work_.ops[i].after.size());
      for (OpId after : work_.ops[i].after) next[after.index()].push_back(i);
      if (open[i] == 0) ready.push_back(i);
    }
    std::size_t done = 0;
    const auto satisfy = [&](std::size_t op) {
      if (--open[op] == 0) ready.push_back(static_cast<std::uint32_t>(op));
    };
    while (!ready.empty()) {
      const std::uint32_t op = ready.back();
      ready.pop_back();
      ++done;
      for (std::uint32_t follower : next[op]) satisfy(follower);
      for (const TriggerId id : work_.ops[op].fires)
        for (const OpId target : started_by(work_.triggers[id.index()], activated[id.index()]))
          satisfy(target.index());
    }
    if (done < n) report_stuck(open, done);
  }

  void report_stuck(const std::vector<std::uint32_t>& open, std::size_t done) {
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (open[i] == 0) continue;
      faults_.push_back(
          work_.triggers.empty()
              ? fmt::format("{} can never start: its dependencies form a cycle", op_name(i))
              : fmt::format("{} and {} others can never start: a cycle, or a trigger that is not "
                            "activated often enough",
                            op_name(i), open.size() - done - 1));
      return;
    }
  }

  const Work& work_;
  std::vector<std::string> faults_;
};

}  // namespace

std::string_view to_text(CollectiveKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<CollectiveKind> parse_collective(std::string_view text) {
  std::string word = to_lower(trim(text));
  for (char& c : word)
    if (c == '-' || c == ' ') c = '_';
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (word == kNames[i]) return static_cast<CollectiveKind>(i);
  std::erase(word, '_');
  for (const Alias& alias : kAliases)
    if (word == alias.text) return alias.kind;
  return std::nullopt;
}

std::vector<std::string> collective_names() {
  return {kNames.begin(), kNames.end()};
}

bool has_root(CollectiveKind kind) {
  return kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce ||
         kind == CollectiveKind::gather || kind == CollectiveKind::scatter;
}

double algbw_factor(CollectiveKind kind, int ranks) {
  return kind == CollectiveKind::hypercube ? (ranks - 1.0) / ranks : 1;
}

double busbw_factor(CollectiveKind kind, int ranks) {
  const double n = ranks;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2 * (n - 1) / n;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
      return (n - 1) / n;
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::send_recv:
    case CollectiveKind::hypercube:
    case CollectiveKind::moe_dispatch:
    case CollectiveKind::moe_combine:
      return 1;
  }
  return 1;
}

std::span<const OpId> started_by(const Trigger& trigger, std::uint32_t& activated) {
  const std::span<const OpId> targets = trigger.targets;
  ++activated;
  if (!trigger.one_by_one) return activated == trigger.needs ? targets : targets.first(0);
  if (activated > targets.size()) return targets.first(0);
  return targets.subspan(activated - 1, 1);
}

std::vector<std::string> validate(const Work& work) {
  return Validator(work).run();
}

}  // namespace weft::work
