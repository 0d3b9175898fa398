#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "flow_list/flow_list.h"

namespace weft::flow_list {
namespace {

constexpr std::int64_t kMostNodes = 10'000'000, kMostFlows = 100'000'000;

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : text_(text), lines_(text) {
    list_.file = file;
  }

  FlowList read() {
    std::size_t begin = 0;
    while (begin < text_.size() && diagnostics_.size() < 100) {
      std::size_t end = text_.find('\n', begin);
      if (end == std::string_view::npos) end = text_.size();
      std::string_view line = text_.substr(begin, end - begin);
      line = line.substr(0, line.find('#'));
      words_ = split_whitespace(line);
      at_ = 0;
      if (!words_.empty()) read_line();
      begin = end + 1;
    }
    check();
    diagnostics_.throw_if_any(text_);
    return std::move(list_);
  }

 private:
  [[nodiscard]] SourcePosition where(std::string_view word) const {
    return lines_.at(static_cast<std::size_t>(word.data() - text_.data()), list_.file);
  }
  void complain(std::string_view word, std::string what, std::string hint) {
    diagnostics_.add(where(word), std::move(what), std::move(hint));
  }

  void read_line() {
    const std::string first = to_lower(words_[0]);
    if (words_[0].find("->") != std::string_view::npos) {
      read_flow();
    } else if (first == "trigger") {
      read_trigger();
    } else if (first == "failure") {
      complain(
          words_[0], "failures of links are not read from here",
          "leave the failed link out of the cluster file, or use link_changes of the scenario");
    } else if (const auto counted = counts_.find(first); counted != counts_.end()) {
      read_count(counted->first, counted->second);
    } else {
      complain(words_[0], fmt::format("a line cannot begin with '{}'", words_[0]),
               suggest(words_[0], std::vector<std::string>{"Nodes", "Connections", "Triggers",
                                                           "Failures", "trigger", "failure"}));
    }
  }

  void read_count(const std::string& name, std::optional<std::int64_t>& out) {
    if (words_.size() == 2) out = parse_int(words_[1]);
    if (words_.size() != 2 || !out || *out < 0 || *out > kMostFlows) {
      complain(words_[0], fmt::format("{} takes one whole number", name),
               fmt::format("write {} 128", words_[0]));
      out = std::nullopt;
    }
  }

  // The word after the one at hand, as a whole number.
  std::optional<std::int64_t> number(std::int64_t least, std::int64_t most) {
    const std::string_view key = words_[at_];
    if (at_ + 1 == words_.size()) {
      complain(key, fmt::format("nothing follows {}", key), "add a whole number");
      return std::nullopt;
    }
    const auto value = parse_int(words_[++at_]);
    if (value && *value >= least && *value <= most) return value;
    complain(words_[at_],
             fmt::format("{} takes a whole number from {} to {}, not '{}'", key, least, most,
                         words_[at_]),
             "no unit is written here; sizes are in bytes");
    return std::nullopt;
  }

  std::optional<std::uint32_t> node(std::string_view text, std::string_view whole) {
    const auto value = parse_int(text);
    if (value && *value >= 0 && *value < kMostNodes) return static_cast<std::uint32_t>(*value);
    complain(whole, fmt::format("'{}' is no number of a node", text),
             "a flow begins with its ends: 0->13");
    return std::nullopt;
  }

  void read_flow() {
    const std::string_view ends = words_[0];
    const std::size_t arrow = ends.find("->");
    const auto from = node(ends.substr(0, arrow), ends), to = node(ends.substr(arrow + 2), ends);
    Flow flow;
    flow.where = where(ends);
    bool sized = false, timed = false;
    for (at_ = 1; at_ < words_.size(); ++at_) read_key(flow, sized, timed);
    if (!sized) complain(ends, "this flow has no size", "add for example size 2000000");
    if (!timed && !flow.started_by)
      complain(ends, "nothing says when this flow starts", "add start 0, or trigger and its id");
    if (timed && flow.started_by)
      complain(ends, "this flow has both a start and a trigger", "keep one of them");
    if (!from || !to) return;
    flow.from = *from;
    flow.to = *to;
    if (flow.from == flow.to) complain(ends, "this flow ends where it begins", "name two nodes");
    list_.flows.push_back(std::move(flow));
  }

  void read_key(Flow& flow, bool& sized, bool& timed) {
    const std::string_view key = words_[at_];
    if (key == "id") {
      flow.id = number(0, INT64_MAX);
    } else if (key == "size") {
      sized = true;
      if (const auto size = number(1, INT64_MAX / 16)) flow.size = Bytes(*size);
    } else if (key == "start") {
      timed = true;
      flow.start = number(0, INT64_MAX / 2).value_or(0);
    } else if (key == "trigger") {
      if (const auto id = number(0, INT64_MAX)) flow.started_by = trigger(*id, words_[at_]);
    } else if (key == "send_done_trigger" || key == "recv_done_trigger") {
      if (const auto id = number(0, INT64_MAX)) flow.fires.push_back(trigger(*id, words_[at_]));
    } else if (key == "prio") {
      const std::string_view word = words_[at_];
      if (number(0, 7).value_or(0) != 0)
        complain(word, "flows have one priority here", "remove prio");
    } else if (key == "msg") {
      complain(key, "several messages on one connection are not read",
               "write one flow with the sum of their sizes");
    } else {
      static const std::vector<std::string> kKeys = {
          "id", "start", "trigger", "size", "send_done_trigger", "recv_done_trigger", "prio"};
      complain(key, fmt::format("a flow has no '{}'", key), suggest(key, kKeys));
    }
  }

  // The place of a trigger, which may be defined further down.
  std::size_t trigger(std::int64_t id, std::string_view word) {
    const auto [at, is_new] = places_.try_emplace(id, list_.triggers.size());
    if (is_new) {
      list_.triggers.push_back({id, Trigger::Kind::oneshot, 1, where(word)});
      defined_.push_back(false);
    }
    return at->second;
  }

  void read_trigger() {
    std::optional<std::int64_t> id;
    std::optional<Trigger::Kind> kind;
    std::optional<std::int64_t> count;
    for (at_ = 1; at_ < words_.size(); ++at_) {
      const std::string_view word = words_[at_];
      if (word == "id") {
        id = number(0, INT64_MAX);
      } else if (word == "count") {
        count = number(1, UINT32_MAX);
      } else if (word == "oneshot") {
        kind = Trigger::Kind::oneshot;
      } else if (word == "multishot") {
        kind = Trigger::Kind::multishot;
      } else if (word == "barrier") {
        kind = Trigger::Kind::barrier;
      } else {
        complain(word, fmt::format("a trigger has no '{}'", word),
                 "write trigger id 1 oneshot, multishot, or barrier count 8");
      }
    }
    if (!id || !kind || (*kind == Trigger::Kind::barrier) != count.has_value()) {
      complain(words_[0], "a trigger has an id and a kind, and a barrier its count",
               "write trigger id 1 oneshot, multishot, or barrier count 8");
      return;
    }
    const std::size_t place = trigger(*id, words_[0]);
    if (defined_[place])
      complain(words_[0], fmt::format("trigger {} is there twice", *id), "remove one");
    defined_[place] = true;
    list_.triggers[place].kind = *kind;
    list_.triggers[place].count = static_cast<std::uint32_t>(count.value_or(1));
    list_.triggers[place].where = where(words_[0]);
  }

  void check() {
    const auto begin = SourcePosition{list_.file, 1, 1};
    const auto nodes = counts_["nodes"];
    if (!nodes) {
      if (diagnostics_.empty())
        diagnostics_.add(begin, "the number of nodes is missing", "begin with a line Nodes 128");
      return;
    }
    list_.nodes = static_cast<std::uint32_t>(std::min(*nodes, kMostNodes));
    for (const Flow& flow : list_.flows) {
      if (flow.from < list_.nodes && flow.to < list_.nodes) continue;
      diagnostics_.add(flow.where, fmt::format("there is no node {}", std::max(flow.from, flow.to)),
                       fmt::format("nodes are 0 to {}", std::int64_t{list_.nodes} - 1));
    }
    check_count("connections", list_.flows.size(), begin);
    check_triggers();
    if (list_.flows.empty() && diagnostics_.empty())
      diagnostics_.add(begin, "there is no flow", "add lines such as 0->13 start 0 size 2000000");
  }

  void check_count(const std::string& name, std::size_t found, const SourcePosition& begin) {
    const auto stated = counts_[name];
    if (!stated || static_cast<std::size_t>(*stated) == found || !diagnostics_.empty()) return;
    diagnostics_.add(begin, fmt::format("the file states {} {}, but has {}", *stated, name, found),
                     "correct the number, or add what is missing");
  }

  void check_triggers() {
    std::vector<std::uint64_t> activations(list_.triggers.size()), targets(list_.triggers.size());
    for (const Flow& flow : list_.flows) {
      for (const std::size_t place : flow.fires) ++activations[place];
      if (flow.started_by) ++targets[*flow.started_by];
    }
    for (std::size_t i = 0; i < list_.triggers.size(); ++i) {
      const Trigger& trigger = list_.triggers[i];
      if (!defined_[i]) {
        diagnostics_.add(trigger.where, fmt::format("trigger {} is not defined", trigger.id),
                         fmt::format("add a line trigger id {} oneshot", trigger.id));
        continue;
      }
      const std::uint64_t needed =
          trigger.kind == Trigger::Kind::multishot ? targets[i] : trigger.count;
      if (targets[i] == 0 || activations[i] >= needed) continue;
      diagnostics_.add(trigger.where,
                       fmt::format("trigger {} starts {} flows after {} activations, but gets {}: "
                                   "flows would never start",
                                   trigger.id, targets[i], needed, activations[i]),
                       "let more flows fire it");
    }
  }

  std::string_view text_;
  LineIndex lines_;
  FlowList list_;
  Diagnostics diagnostics_;
  std::vector<std::string_view> words_;
  std::size_t at_ = 0;
  std::map<std::string, std::optional<std::int64_t>> counts_ = {
      {"nodes", {}}, {"connections", {}}, {"triggers", {}}, {"failures", {}}};
  std::map<std::int64_t, std::size_t> places_;
  std::vector<bool> defined_;
};

}  // namespace

const Flow* FlowList::first_timed() const {
  const auto at =
      std::find_if(flows.begin(), flows.end(), [](const Flow& f) { return f.start > 0; });
  return at == flows.end() ? nullptr : &*at;
}

FlowList read_htsim_cm(std::string_view text, const std::string& file) {
  return Reader(text, file).read();
}

std::vector<work::OpId> add_to(work::Work& work, const FlowList& list, const Placement& placement) {
  const std::size_t first_trigger = work.triggers.size();
  for (const Trigger& trigger : list.triggers)
    work.triggers.push_back({trigger.count, trigger.kind == Trigger::Kind::multishot, {}});
  std::vector<work::OpId> ops;
  ops.reserve(list.flows.size());
  for (const Flow& flow : list.flows) {
    ops.emplace_back(work.ops.size());
    work::Op op;
    op.what = work::Transfer{placement.rank_of_node[flow.from], placement.rank_of_node[flow.to],
                             flow.size};
    op.earliest = Instant::at(placement.at + placement.unit * flow.start);
    op.label = flow.id ? fmt::format("{}->{} id {}", flow.from, flow.to, *flow.id)
                       : fmt::format("{}->{}", flow.from, flow.to);
    for (const std::size_t place : flow.fires) op.fires.emplace_back(first_trigger + place);
    if (flow.started_by) {
      work.triggers[first_trigger + *flow.started_by].targets.push_back(ops.back());
    } else {
      op.after = placement.after;
    }
    work.ops.push_back(std::move(op));
  }
  return ops;
}

}  // namespace weft::flow_list
