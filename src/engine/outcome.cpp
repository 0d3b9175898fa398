#include "engine/outcome.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::engine {

namespace {

// Causes of one flow searched for an equal one before a new entry is made.
constexpr int kMergeDepth = 8;

double share_of(Duration part, Duration whole) {
  return whole.ps() > 0 ? part.to_seconds() / whole.to_seconds() : 0;
}

std::string percent(double share) {
  return fmt::format("{:.0f} %", share * 100);
}

}  // namespace

Outcome::Outcome(const Setup& setup, Expander& expander)
    : setup_(&setup),
      expander_(&expander),
      times_(setup.work.ops.size()),
      delays_of_(setup.work.ops.size(), kEmptyList),
      carried_(setup.work.ops.size()),
      wire_bytes_(setup.fabric->link_count()),
      spans_(setup.work.ops.size()) {}

void Outcome::carry(work::OpId op, const Expansion& expansion) {
  for (const Expansion::Flow& flow : expansion.flows)
    for (std::uint32_t i = flow.begin; i < flow.end; ++i)
      wire_bytes_[expansion.shares[i].link.index()] += expansion.shares[i].wire * flow.bytes;
  carried_[op.index()] = {expansion.from, expansion.to};
  if (expansion.algorithm.empty()) return;  // a transfer
  result::OpSpan& span = spans_[op.index()];
  span.algorithm = expansion.algorithm;
  span.protocol = expansion.protocol;
  span.channels = expansion.channels;
}

std::uint32_t Outcome::add_delay(std::uint32_t list, DelayCause cause, Duration time) {
  if (time.ps() <= 0) return list;
  std::uint32_t entry = list;
  for (int depth = 0; depth < kMergeDepth && entry != kEmptyList; ++depth) {
    if (delays_[entry].cause == cause) {
      delays_[entry].time += time;
      return list;
    }
    entry = delays_[entry].next;
  }
  if (free_delays_ != kEmptyList) {
    const std::uint32_t taken = free_delays_;
    free_delays_ = delays_[taken].next;
    delays_[taken] = {cause, list, time};
    return taken;
  }
  delays_.push_back({cause, list, time});
  return static_cast<std::uint32_t>(delays_.size() - 1);
}

void Outcome::drop_delays(std::uint32_t list) {
  while (list != kEmptyList) {
    const std::uint32_t next = delays_[list].next;
    delays_[list].next = free_delays_;
    free_delays_ = list;
    list = next;
  }
}

result::Result Outcome::finish(std::string_view engine) {
  result::Result result;
  for (const Times& times : times_)
    result.completion = std::max(result.completion, times.end.since_start());
  result.bottleneck = bottleneck(result.completion);
  fill_ops(result);
  fill_links(result);
  result.engine.name = engine;
  return result;
}

void Outcome::fill_ops(result::Result& result) {
  result.ops = std::move(spans_);
  for (std::size_t i = 0; i < times_.size(); ++i) {
    result.ops[i].start = times_[i].start;
    result.ops[i].end = times_[i].end;
    if (!setup_->options.record_flows) continue;
    if (const auto* transfer = std::get_if<work::Transfer>(&setup_->work.ops[i].what))
      result.flows.push_back({work::OpId(i), carried_[i].from, carried_[i].to, transfer->size,
                              times_[i].start, times_[i].end});
  }
}

void Outcome::fill_links(result::Result& result) const {
  const double seconds = result.completion.to_seconds();
  for (std::size_t i = 0; i < wire_bytes_.size(); ++i) {
    if (wire_bytes_[i] <= 0) continue;
    const fabric::LinkId link(i);
    const double rate = setup_->fabric->link_class(link).raw_rate.bytes_per_second();
    const double utilisation = seconds > 0 ? wire_bytes_[i] / (rate * seconds) : 0;
    result.links.push_back({link, wire_bytes_[i], utilisation});
  }
}

void Outcome::blame(Blames& blames, DelayCause cause, work::OpId op, Duration time) {
  if (time.ps() <= 0) return;
  Blame& entry = blames[cause];
  entry.time += time;
  if (time > entry.longest) {
    entry.longest = time;
    entry.op = op;
  }
}

Outcome::Blames Outcome::critical_path() const {
  using Kind = DelayCause::Kind;
  Blames blames;
  const auto last = std::max_element(times_.begin(), times_.end(),
                                     [](const Times& a, const Times& b) { return a.end < b.end; });
  work::OpId op(static_cast<std::size_t>(last - times_.begin()));
  while (true) {
    const Times& times = times_[op.index()];
    const work::Op& what = setup_->work.ops[op.index()];
    if (std::holds_alternative<work::Compute>(what.what))
      blame(blames, {Kind::compute, {}}, op, times.end - times.start);
    else
      blame(blames, {Kind::latency, {}}, op, times.fluid - times.start);
    for (std::uint32_t i = delays_of_[op.index()]; i != kEmptyList; i = delays_[i].next)
      blame(blames, delays_[i].cause, op, delays_[i].time);
    work::OpId before;
    Instant ready;
    for (work::OpId dependency : what.after) {
      if (before.valid() && times_[dependency.index()].end <= ready) continue;
      before = dependency;
      ready = times_[dependency.index()].end;
    }
    blame(blames, {Kind::start_time, {}}, op, times.start - ready);
    if (!before.valid()) return blames;
    op = before;
  }
}

void Outcome::describe_link(result::Bottleneck& out, const Blame& blame) {
  const Expansion& expansion = expander_->expand(blame.op);
  double spent = 0;
  double wire = 0;
  for (const LinkShare& share : expansion.shares) {
    if (share.link != out.link) continue;
    spent += share.spent;
    wire += share.wire;
  }
  const bool changed = std::any_of(setup_->link_changes.begin(), setup_->link_changes.end(),
                                   [&](const LinkChange& c) { return c.link == out.link; });
  out.name = setup_->fabric->link_name(out.link);
  out.sentence =
      fmt::format("{} carries {} of its {}{} for {} of the time", out.name,
                  percent(spent > 0 ? wire / spent : 1),
                  to_text_bytes(setup_->fabric->link_class(out.link).raw_rate),
                  changed ? ", of which link_changes leave a share," : "", percent(out.share));
}

result::Bottleneck Outcome::bottleneck(Duration completion) {
  result::Bottleneck out;
  if (times_.empty() || completion.ps() == 0) return out;
  const Blames blames = critical_path();
  auto worst = blames.begin();
  for (auto it = blames.begin(); it != blames.end(); ++it)
    if (it->second.time > worst->second.time) worst = it;
  const auto& [cause, blame] = *worst;
  out.share = share_of(blame.time, completion);
  const std::string of =
      fmt::format("{} of {} ({})", to_text(blame.time), to_text(completion), percent(out.share));
  switch (cause.kind) {
    case DelayCause::Kind::link:
      out.link = cause.link;
      describe_link(out, blame);
      break;
    case DelayCause::Kind::cap:
      out.name = expander_->expand(blame.op).cap_name;
      out.sentence = fmt::format("{} is the limit, not a link, for {}", out.name, of);
      break;
    case DelayCause::Kind::latency:
      out.name = "latency";
      out.sentence = fmt::format("latency and dependent steps take {}; no link is the limit", of);
      break;
    case DelayCause::Kind::compute:
      out.name = "compute";
      out.sentence = fmt::format("computation takes {}", of);
      break;
    case DelayCause::Kind::start_time:
      out.name = "start times";
      out.sentence = fmt::format("ops wait for the start times they were given for {}", of);
      break;
  }
  return out;
}

}  // namespace weft::engine
