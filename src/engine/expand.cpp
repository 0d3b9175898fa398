#include "engine/expand.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/errors.h"
#include "base/random.h"
#include "collective/tuner.h"
#include "engine/expand_totals.h"
#include "engine/wide_area.h"

namespace weft::engine {

namespace {

// Shares kept for collectives that run again; 32 M of them are 768 MB.
constexpr std::size_t kCachedShares = std::size_t{1} << 25;

std::uint64_t connection_entropy(std::uint64_t seed, fabric::DeviceId from, fabric::DeviceId to,
                                 std::uint64_t which) {
  return hash_combine(hash_combine(hash_combine(seed, from.value), to.value), which);
}

bool is_memory_link(fabric::LinkKind kind) {
  return kind == fabric::LinkKind::nvlink || kind == fabric::LinkKind::xgmi;
}

std::string op_name(const work::Work& work, work::OpId op) {
  const std::string& label = work.ops[op.index()].label;
  return label.empty() ? fmt::format("op {}", op.value)
                       : fmt::format("op {} ({})", op.value, label);
}

// Adds up entries of one link within [begin, end of shares). Paths are short: a linear search; what
// is spread over many is sorted by link first, so that equal ones are neighbours.
void merge_tail(std::vector<LinkShare>& shares, std::size_t begin) {
  constexpr std::size_t kShort = 32;
  if (shares.size() - begin > kShort) {
    std::sort(shares.begin() + static_cast<std::ptrdiff_t>(begin), shares.end(),
              [](const LinkShare& a, const LinkShare& b) {
                return std::tie(a.link, a.spent, a.wire) < std::tie(b.link, b.spent, b.wire);
              });
    std::size_t end = begin + 1;
    for (std::size_t i = end; i < shares.size(); ++i) {
      if (shares[end - 1].link != shares[i].link) {
        shares[end++] = shares[i];
        continue;
      }
      shares[end - 1].spent += shares[i].spent;
      shares[end - 1].wire += shares[i].wire;
    }
    shares.resize(end);
    return;
  }
  std::size_t end = begin;
  for (std::size_t i = begin; i < shares.size(); ++i) {
    std::size_t same = begin;
    while (same < end && shares[same].link != shares[i].link) ++same;
    if (same == end) {
      shares[end++] = shares[i];
    } else {
      shares[same].spent += shares[i].spent;
      shares[same].wire += shares[i].wire;
    }
  }
  shares.resize(end);
}

// Bytes that a protocol puts on the wire per payload byte: flags beside the data.
double protocol_bytes(collective::Protocol protocol) {
  switch (protocol) {
    case collective::Protocol::ll:
      return 2;
    case collective::Protocol::ll128:
      return 128.0 / 120.0;
    case collective::Protocol::simple:
      return 1;
  }
  return 1;
}

}  // namespace

Expansion::Load Expansion::heaviest_load(const fabric::Fabric& fabric) const {
  std::vector<std::pair<fabric::LinkId, double>> bytes;
  double total = 0;
  for (const Flow& flow : flows) {
    total += flow.bytes;
    for (std::uint32_t i = flow.begin; i < flow.end; ++i)
      bytes.emplace_back(shares[i].link, shares[i].spent * flow.bytes);
  }
  if (flows.size() > 1) std::sort(bytes.begin(), bytes.end());
  Load heaviest;
  if (cap != kUnlimited) heaviest.seconds = total / cap;
  for (std::size_t i = 0; i < bytes.size();) {
    double spent = 0;
    const fabric::LinkId link = bytes[i].first;
    for (; i < bytes.size() && bytes[i].first == link; ++i) spent += bytes[i].second;
    const double seconds = spent / fabric.link_class(link).raw_rate.bytes_per_second();
    if (seconds > heaviest.seconds) heaviest = {seconds, link};
  }
  return heaviest;
}

Expander::Expander(const Setup& setup)
    : setup_(&setup), paths_(*setup.fabric, *setup.routes, setup.costs) {}

Expander::~Expander() = default;

fabric::DeviceId Expander::gpu_of(work::RankId rank) const {
  const auto gpus = setup_->fabric->of_kind(fabric::DeviceKind::gpu);
  const std::uint32_t ordinal = setup_->work.rank_gpu[rank.index()];
  if (ordinal >= gpus.size())
    throw InputError({"<work>"},
                     fmt::format("rank {} is placed on GPU {}, but the fabric has {} GPUs",
                                 rank.value, ordinal, gpus.size()),
                     "place fewer ranks or enlarge the cluster");
  return gpus[ordinal];
}

void Expander::refuse(work::OpId op, const std::string& why) const {
  throw InputError({"<work>"}, fmt::format("{} cannot run: {}", op_name(setup_->work, op), why),
                   "weft bench --explain lists what can run here, and why the rest cannot");
}

const Expansion& Expander::expand(work::OpId op) {
  const work::Op& what = setup_->work.ops[op.index()];
  if (const auto* collective = std::get_if<work::CollectiveOp>(&what.what))
    return expand_collective(op, *collective);
  const auto* transfer = std::get_if<work::Transfer>(&what.what);
  CHECK(transfer != nullptr);
  expand_transfer(op, *transfer);
  return scratch_;
}

void Expander::expand_transfer(work::OpId op, const work::Transfer& transfer) {
  scratch_.flows.clear();
  scratch_.shares.clear();
  scratch_.latency = {};
  scratch_.cap = Expansion::kUnlimited;
  scratch_.cap_name.clear();
  scratch_.from = gpu_of(transfer.from);
  scratch_.to = gpu_of(transfer.to);
  if (scratch_.from == scratch_.to) return;  // already there
  const int pairs = std::max(1, setup_->options.queue_pairs);
  for (int pair = 0; pair < pairs; ++pair) {
    Connection connection;
    connection.source = scratch_.from;
    connection.destination = scratch_.to;
    connection.via = setup_->options.via;
    connection.entropy = connection_entropy(setup_->options.seed, scratch_.from, scratch_.to,
                                            static_cast<std::uint64_t>(pair));
    if (!paths_.resolve(connection, resolved_)) refuse(op, paths_.refusal());
    const auto begin = static_cast<std::uint32_t>(scratch_.shares.size());
    scratch_.shares.insert(scratch_.shares.end(), resolved_.shares.begin(), resolved_.shares.end());
    merge_tail(scratch_.shares, begin);
    const auto end = static_cast<std::uint32_t>(scratch_.shares.size());
    scratch_.flows.push_back({begin, end, transfer.size.to_double() / pairs, 1});
    scratch_.cap = resolved_.pattern->cap;
    scratch_.cap_name = resolved_.pattern->cap_reason;
    scratch_.latency =
        std::max(scratch_.latency, resolved_.latency + resolved_.pattern->fill_time(transfer.size));
    if (!resolved_.pattern
             ->crosses_network) {  // one queue pair's worth of links: no ECMP to spread
      scratch_.flows[0].bytes = transfer.size.to_double();
      break;
    }
  }
}

const Expansion& Expander::expand_collective(work::OpId op, const work::CollectiveOp& c) {
  const CollectiveKey key{c.group.value,  static_cast<int>(c.kind),
                          c.size.count(), c.root.value,
                          c.algorithm,    c.protocol,
                          c.channels,     c.switch_reduction,
                          c.in_place,     c.moe};
  const auto known = collectives_.find(key);
  if (known != collectives_.end()) return known->second;
  Expansion built = build_collective(op, c);
  if (cached_shares_ + built.shares.size() > kCachedShares) {
    collectives_.clear();
    cached_shares_ = 0;
  }
  cached_shares_ += built.shares.size();
  return collectives_.emplace(key, std::move(built)).first->second;
}

const collective::ChannelPlan& Expander::plan_of(const work::CollectiveOp& op) {
  const std::tuple<std::uint32_t, int, bool> key{op.group.value, op.channels, op.switch_reduction};
  const auto known = plans_.find(key);
  if (known != plans_.end()) return known->second;
  collective::Group members;
  for (work::RankId rank : setup_->work.groups[op.group.index()])
    members.gpus.push_back(gpu_of(rank));
  const collective::ChannelOptions options{op.channels, op.switch_reduction};
  return plans_.emplace(key, collective::plan_channels(*setup_->fabric, members, options))
      .first->second;
}

Expander::Chosen Expander::choose(work::OpId op, const work::CollectiveOp& c) {
  const collective::ChannelPlan& plan = plan_of(c);
  if (plan.channels.empty())
    refuse(op, plan.notes.empty() ? "its GPUs cannot reach one another" : plan.notes.back());
  const auto forced_protocol = collective::parse_protocol(c.protocol);
  if (!c.protocol.empty() && !forced_protocol)
    refuse(op, fmt::format("there is no protocol '{}'", c.protocol));
  std::string reason;
  const work::MoeShape* moe = c.moe ? &*c.moe : nullptr;
  const auto choice = collective::choose({c.kind, c.size, &plan, moe},
                                         {c.algorithm, forced_protocol, c.channels}, reason);
  if (!choice) refuse(op, reason);
  const collective::Algorithm* algorithm = collective::find_algorithm(choice->algorithm);
  CHECK(algorithm != nullptr);
  const auto& members = setup_->work.groups[c.group.index()];
  const auto root = std::find(members.begin(), members.end(), c.root);
  collective::Request request{c.kind, c.size, 0, choice->protocol};
  request.moe = moe;
  if (root != members.end()) request.root = static_cast<std::uint32_t>(root - members.begin());
  request.in_place = c.in_place;
  return {&plan, algorithm, request, choice->channels};
}

Expansion Expander::build_collective(work::OpId op, const work::CollectiveOp& c) {
  const Chosen chosen = choose(op, c);
  const collective::ChannelPlan& plan = *chosen.plan;
  const collective::Fluid fluid = chosen.algorithm->fluid(chosen.request, plan, setup_->constants);

  if (!totals_) totals_ = std::make_unique<LinkTotals>(setup_->fabric->link_count());
  protocol_factor_ = protocol_bytes(chosen.request.protocol);
  path_cap_ = Expansion::kUnlimited;
  for (const collective::Edge& edge : fluid.edges)
    if (!edge.in_network()) add_edge(op, edge, fluid, plan);
  add_reductions(op, fluid, plan);

  Expansion out;
  out.latency = fluid.latency;
  if (has_wide_area(*setup_->fabric))
    out.latency +=
        wide_area_delay(*setup_->fabric, *setup_->routes, *chosen.algorithm, chosen.request, plan);
  out.algorithm = chosen.algorithm->name();
  out.protocol = collective::to_text(chosen.request.protocol);
  out.channels = chosen.channels;
  if (c.size.count() > 0) take_totals(c.size.to_double(), out);
  if (fluid.cap && fluid.cap->bytes_per_second() < out.cap) {
    out.cap = fluid.cap->bytes_per_second();
    out.cap_name = fmt::format("what {} moves with {}", out.algorithm, out.protocol);
  }
  return out;
}

// Moves the sums into `out` per byte of the op's size. The weight makes every connection of the
// collective count as much as a transfer on the links where it is heaviest.
void Expander::take_totals(double size, Expansion& out) {
  LinkTotals& totals = *totals_;
  std::sort(totals.touched.begin(), totals.touched.end());
  double heaviest[2] = {0, 0};  // spent per connection: inside servers, in the network
  out.shares.reserve(totals.touched.size());
  for (fabric::LinkId link : totals.touched) {
    const std::size_t i = link.index();
    out.shares.push_back({link, totals.spent[i] / size, totals.wire[i] / size});
    const bool network = fabric::is_network(setup_->fabric->link_class(link).kind);
    heaviest[network ? 1 : 0] =
        std::max(heaviest[network ? 1 : 0], out.shares.back().spent / totals.connections[i]);
    totals.spent[i] = totals.wire[i] = 0;
    totals.connections[i] = 0;
  }
  totals.touched.clear();
  const double per_connection = heaviest[1] > 0 ? heaviest[1] : heaviest[0];
  out.flows.push_back({0, static_cast<std::uint32_t>(out.shares.size()), size,
                       per_connection > 0 ? 1 / per_connection : 1});
  out.cap = path_cap_ * size;  // was in ops per second
  out.cap_name = path_cap_name_;
}

void Expander::add_edge(work::OpId op, const collective::Edge& edge, const collective::Fluid& fluid,
                        const collective::ChannelPlan& plan) {
  if (edge.bytes <= 0) return;
  if (edge.multicast) {
    add_switch_edge(edge, fluid, plan);
    return;
  }
  Connection connection;
  connection.source = plan.group.gpus[edge.from];
  connection.destination = plan.group.gpus[edge.to];
  connection.mover = fabric::Mover::sm;
  if (!edge.from_nic.valid()) {
    connection.via = fabric::Via::nvlink;
    if (!paths_.resolve(connection, resolved_)) {
      connection.via = fabric::Via::automatic;
      if (!paths_.resolve(connection, resolved_)) refuse(op, paths_.refusal());
    }
    add_path(edge.bytes, fluid, plan);
    return;
  }
  connection.source_nic = edge.from_nic;
  connection.destination_nic = edge.to_nic;
  connection.via = setup_->options.via;
  const int pairs = std::max(1, setup_->options.queue_pairs);
  for (int pair = 0; pair < pairs; ++pair) {
    connection.entropy = connection_entropy(
        setup_->options.seed, connection.source, connection.destination,
        static_cast<std::uint64_t>(edge.channel) << 16 | static_cast<std::uint64_t>(pair));
    if (!paths_.resolve(connection, resolved_)) refuse(op, paths_.refusal());
    add_path(edge.bytes / pairs, fluid, plan);
  }
}

// Adds the path just resolved.
void Expander::add_path(double bytes, const collective::Fluid& fluid,
                        const collective::ChannelPlan& plan) {
  // What a NIC and its stack reach was measured from memory to memory, so its factor holds for the
  // PCIe links at both ends as well.
  const double factor =
      resolved_.pattern->crosses_network ? fluid.network_wire_factor : fluid.wire_factor;
  for (const LinkShare& share : resolved_.shares) {
    const fabric::LinkClass& link = setup_->fabric->link_class(share.link);
    if (is_memory_link(link.kind)) {
      // Its share of the bytes is what the mover's and the packets' overhead leave of `wire`.
      add_memory_link(share.link, bytes * share.wire / framing_factor(link), fluid, plan);
      continue;
    }
    totals_->add(share.link, bytes * share.spent * factor,
                 bytes * share.wire * std::min(protocol_factor_, factor));
  }
  if (resolved_.pattern->cap / bytes < path_cap_) {
    path_cap_ = resolved_.pattern->cap / bytes;
    path_cap_name_ = resolved_.pattern->cap_reason;
  }
}

// NVLink and xGMI carry collectives at NCCL's effective rate, below the payload rate of the link.
void Expander::add_memory_link(fabric::LinkId link, double bytes, const collective::Fluid& fluid,
                               const collective::ChannelPlan& plan) {
  const fabric::LinkClass& link_class = setup_->fabric->link_class(link);
  const double effective = collective::nccl_link_gb_per_s(link_class, plan.compute_capability);
  const double raw = link_class.raw_rate.gb_per_s();
  const double spent = (effective > 0 ? raw / effective : framing_factor(link_class));
  totals_->add(
      link, bytes * spent * fluid.wire_factor,
      bytes * std::min(spent * fluid.wire_factor, framing_factor(link_class) * protocol_factor_));
}

// Between a GPU and the switches that reduce or multicast: over all its NVLinks towards them.
void Expander::add_switch_edge(const collective::Edge& edge, const collective::Fluid& fluid,
                               const collective::ChannelPlan& plan) {
  const fabric::Fabric& fabric = *setup_->fabric;
  const bool up = edge.to == collective::kSwitchPlane;
  const fabric::DeviceId gpu = plan.group.gpus[up ? edge.from : edge.to];
  double total = 0;
  const auto visit = [&](auto&& what) {
    for (fabric::LinkId link : fabric.out_links(gpu))
      if (is_memory_link(fabric.link_class(link).kind) &&
          fabric.kind(fabric.to(link)) == fabric::DeviceKind::nvswitch)
        what(link, fabric.link_class(link).raw_rate.bytes_per_second());
  };
  visit([&](fabric::LinkId, double rate) { total += rate; });
  visit([&](fabric::LinkId link, double rate) {
    add_memory_link(up ? link : fabric::reverse(link), edge.bytes * rate / total, fluid, plan);
  });
}

}  // namespace weft::engine
