#include "engine/packet/connector.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/random.h"

namespace weft::engine::packet {

namespace {

constexpr std::uint32_t kAckBytes = 86;

// The path as one chain of links, or one a stripe. `payload` and `wire` of a full packet.
std::vector<Chain> chains_of(const fabric::DataPath& path, double payload, double wire) {
  std::vector<Chain> chains(1);
  int stripe = 0;
  for (const fabric::Leg& leg : path.legs) {
    for (const fabric::Hop& hop : leg.hops) {
      if (hop.stripe != stripe) {
        stripe = hop.stripe;
        chains.emplace_back();
      }
      chains.back().segments.push_back(
          {hop.link, hop.wire_per_byte * payload / wire, hop.latency.ps()});
    }
  }
  double total = 0;
  for (Chain& chain : chains) total += chain.share = chain.segments.front().spent_per_byte;
  // A stripe's hops count its share of the bytes; a packet spends all of itself on its stripe.
  if (chains.size() > 1) {
    const double whole = total;
    for (Chain& chain : chains) {
      for (Segment& segment : chain.segments) segment.spent_per_byte *= whole / chain.share;
    }
  }
  return chains;
}

// How often each chain comes in a round of packets so that the shares come out within 1 %.
std::vector<std::uint32_t> round_of(const std::vector<Chain>& chains) {
  constexpr int kLongest = 72;  // 18 NVLinks four times over
  double total = 0;
  for (const Chain& chain : chains) total += chain.share;
  std::vector<int> times(chains.size(), 1);
  for (int length = static_cast<int>(chains.size()); length <= kLongest; ++length) {
    double worst = 0;
    for (std::size_t i = 0; i < chains.size(); ++i) {
      const double exact = chains[i].share / total * length;
      times[i] = std::max(1, static_cast<int>(std::lround(exact)));
      worst = std::max(worst, std::abs(times[i] - exact) / exact);
    }
    if (worst < 0.01) break;
  }
  // Smooth weighted round robin: the chain most behind its share is next.
  const int length = std::accumulate(times.begin(), times.end(), 0);
  std::vector<int> credit(chains.size(), 0);
  std::vector<std::uint32_t> out;
  for (int k = 0; k < length; ++k) {
    for (std::size_t i = 0; i < chains.size(); ++i) credit[i] += times[i];
    const auto best = std::max_element(credit.begin(), credit.end());
    *best -= length;
    out.push_back(static_cast<std::uint32_t>(best - credit.begin()));
  }
  return out;
}

// The way back. A hop's latency is its wire's and that of the device behind it, so on the way back
// each wire goes with the device before it.
std::vector<Segment> reversed(const fabric::Fabric& fabric, const std::vector<Segment>& segments) {
  std::vector<Segment> back;
  for (std::size_t i = segments.size(); i-- > 0;) {
    Time latency = fabric.link_class(segments[i].link).latency.ps();
    if (i > 0) {
      latency += segments[i - 1].latency - fabric.link_class(segments[i - 1].link).latency.ps();
    }
    back.push_back({fabric::reverse(segments[i].link), 1, latency});
  }
  return back;
}

}  // namespace

// The best way is sought once for a pair of places in servers of equal shape.
fabric::PathAnswer Connector::find_path(const Ends& ends) {
  fabric::PathQuery query;
  query.source = ends.from;
  query.destination = ends.to;
  query.via = ends.via;
  query.mover = ends.mover;
  if (ends.from_nic.valid()) query.source_nic = ends.from_nic;
  if (ends.to_nic.valid()) query.destination_nic = ends.to_nic;
  query.entropy =
      hash_combine(hash_combine(hash_combine(setup_->options.seed, ends.from.value), ends.to.value),
                   ends.entropy);
  query.words = false;
  const fabric::NetworkRoute route =
      [this](fabric::DeviceId from, fabric::DeviceId to, std::uint64_t entropy,
             std::vector<fabric::LinkId>& out) { setup_->routes->path(from, to, entropy, out); };
  const auto find = [&] { return fabric::find_data_path(*setup_->fabric, costs_, route, query); };
  if (ends.via != fabric::Via::automatic) return find();
  const PathTable::Key key = paths_.key_of({query.source, query.destination, query.via, query.mover,
                                            query.source_nic, query.destination_nic, 0});
  if (const auto known = best_way_.find(key); known != best_way_.end()) {
    query.via = known->second;
    fabric::PathAnswer answer = find();
    if (answer.path) return answer;
    query.via = fabric::Via::automatic;
  }
  fabric::PathAnswer answer = find();
  if (answer.path) best_way_[key] = answer.path->via;
  return answer;
}

const Connected* Connector::connect(const Ends& ends) {
  const auto known = known_.find(ends);
  if (known != known_.end()) return &known->second;
  const fabric::PathAnswer answer = find_path(ends);
  if (!answer.path) {
    refusal_ = answer.refusal;
    return nullptr;
  }
  return &known_.emplace(ends, make(*answer.path)).first->second;
}

Time Connector::add_up(std::uint32_t path, std::uint32_t bytes) const {
  Network& network = simulator_->network();
  Time total = 0;
  for (const std::uint32_t* link = network.path(path); *link != kNone; ++link) {
    total += network.links()[*link].latency + network.serialization(*link, bytes);
  }
  return total;
}

void Connector::add_chains(const std::vector<Chain>& chains, Connection& connection) {
  std::vector<std::uint32_t> paths;
  for (const Chain& chain : chains) paths.push_back(simulator_->network().add_path(chain.segments));
  connection.path = paths.front();
  if (paths.size() == 1) return;
  std::vector<std::uint32_t> stripes;
  for (const std::uint32_t chain : round_of(chains)) stripes.push_back(paths[chain]);
  connection.stripes = static_cast<std::uint32_t>(stripes.size());
  connection.overtakes = !connection.flowlets;
  connection.stripe_begin = simulator_->add_stripes(stripes);
}

// Ways that leave by one port of the NIC part at switches, which choose for each packet. A NIC that
// has several takes all ways in turn.
void Connector::let_switches_choose(const std::vector<Chain>& chains, Connection& connection) {
  std::vector<std::vector<Segment>> ways;
  for (const Chain& chain : chains) ways.push_back(chain.segments);
  connection.tree = simulator_->network().add_tree(ways);
  if (connection.tree == kNone) return;
  connection.stripes = 1;
  connection.stripe_begin = 0;
}

const Connected* Connector::connect_to_switches(fabric::DeviceId gpu, bool up) {
  const auto known = to_switches_.find({gpu, up});
  if (known != to_switches_.end()) return &known->second;
  const fabric::Fabric& fabric = *setup_->fabric;
  std::vector<Chain> chains;
  for (const fabric::LinkId link : fabric.out_links(gpu)) {
    if (fabric.kind(fabric.to(link)) != fabric::DeviceKind::nvswitch) continue;
    const fabric::LinkClass& c = fabric.link_class(link);
    chains.push_back(
        {{{up ? link : fabric::reverse(link), 1, c.latency.ps()}}, c.raw_rate.bytes_per_second()});
  }
  if (chains.empty()) {
    refusal_ = "a GPU has no NVSwitch that could reduce or multicast";
    return nullptr;
  }
  Connected out;
  out.first = chains.front().segments.front().link;
  Connection connection;
  connection.payload = static_cast<std::uint32_t>(costs_.network.mtu.count());
  connection.ack_path = kNone;
  add_chains(chains, connection);
  out.connection = simulator_->add_connection(connection);
  return &to_switches_.emplace(std::pair{gpu, up}, out).first->second;
}

Time Connector::crossing_time(const Connected& way, std::int64_t bytes) const {
  const Connection& connection = simulator_->connection(way.connection);
  const auto size = static_cast<std::uint32_t>(std::min<std::int64_t>(bytes, connection.payload) +
                                               connection.overhead);
  return add_up(connection.path, size);
}

Time Connector::sending_time(const Connected& way, std::int64_t bytes) const {
  const Connection& connection = simulator_->connection(way.connection);
  const std::uint32_t full = connection.payload + connection.overhead;
  Network& network = simulator_->network();
  Time slowest = 0;
  for (const std::uint32_t* link = network.path(connection.path); *link != kNone; ++link)
    slowest = std::max(slowest, network.serialization(*link, full));
  // Parallel NVLinks send at once; ways through a network leave by the same NIC.
  const std::uint32_t at_once = way.crosses_network ? 1 : connection.stripes;
  return bytes / connection.payload * slowest / at_once;
}

// Where routes spread a flow's packets: other ways through the network between the same NICs. Each
// takes an equal part.
void Connector::add_ways(std::vector<Chain>& chains) {
  const fabric::Fabric& fabric = *setup_->fabric;
  const std::vector<Segment> known = chains.front().segments;
  const auto in_network = [&](const Segment& segment) {
    return fabric::is_network(fabric.link_class(segment.link).kind);
  };
  const auto first = std::find_if(known.begin(), known.end(), in_network);
  const auto last = std::find_if_not(first, known.end(), in_network);
  chains.clear();
  for (const WayLinks& way : ways_between(first->link, std::prev(last)->link)) {
    Chain& chain = chains.emplace_back();
    chain.share = 1;
    chain.segments.assign(known.begin(), first);
    for (const fabric::LinkId link : way) {
      const Time through = link == way.back() ? 0 : forwarding(link).ps();
      chain.segments.push_back({link, 1, fabric.link_class(link).latency.ps() + through});
    }
    chain.segments.insert(chain.segments.end(), last, known.end());
  }
}

// The paths that hashes of different bursts give.
std::vector<WayLinks> Connector::drawn_ways(fabric::DeviceId from, fabric::DeviceId to) const {
  std::set<WayLinks> seen;
  std::vector<WayLinks> ways;
  for (std::uint64_t draw = 0; draw < kMostWays; ++draw) {
    WayLinks way;
    setup_->routes->path(from, to, hash_combine(setup_->options.seed, draw), way);
    if (seen.insert(way).second) ways.push_back(way);
  }
  return ways;
}

// NICs with one cable each have between them what their switches have between them, which is
// worked out once.
std::vector<WayLinks> Connector::ways_between(fabric::LinkId out, fabric::LinkId in) {
  const fabric::Fabric& fabric = *setup_->fabric;
  const fabric::DeviceId from = fabric.from(out), to = fabric.to(in);
  const auto cables = [&](fabric::DeviceId nic) {
    const auto links = fabric.out_links(nic);
    return std::count_if(links.begin(), links.end(), [&](fabric::LinkId link) {
      return fabric::is_network(fabric.link_class(link).kind);
    });
  };
  if (setup_->routes->policy() == routing::Policy::flowlet) return drawn_ways(from, to);
  const std::pair switches{fabric.to(out), fabric.from(in)};
  const std::uint64_t seed =
      hash_combine(hash_combine(setup_->options.seed, switches.first.value), switches.second.value);
  if (cables(from) > 1 || cables(to) > 1) return balanced_ways(*setup_->routes, from, to, seed);
  const auto [known, is_new] = ways_.try_emplace(switches);
  if (is_new) known->second = balanced_ways(*setup_->routes, from, to, seed);
  std::vector<WayLinks> ways = known->second;
  for (WayLinks& way : ways) {
    way.front() = out;
    way.back() = in;
  }
  return ways;
}

// What the switch behind the link adds, as the data path has it.
Duration Connector::forwarding(fabric::LinkId into) const {
  const fabric::Fabric& fabric = *setup_->fabric;
  const Duration stated = fabric.device_class(fabric.to(into)).forwarding_latency;
  if (stated.ps() > 0) return stated;
  return fabric.link_class(into).kind == fabric::LinkKind::infiniband
             ? costs_.infiniband_switch_forwarding
             : costs_.ethernet_switch_forwarding;
}

// A NIC asks its GPU for a packet when it will be able to send it. So packets wait in memory, not
// between the two, where acknowledgements of other flows would wait behind them.
void Connector::find_nic(Connection& connection) const {
  const fabric::Fabric& fabric = *setup_->fabric;
  Network& network = simulator_->network();
  const std::uint32_t full = connection.payload + connection.overhead;
  Time lead = 0;
  for (const std::uint32_t* link = network.path(connection.path); *link != kNone; ++link) {
    const auto parts = network.parts(*link);
    if (std::any_of(parts.begin(), parts.end(), [&](fabric::LinkId part) {
          return fabric::is_network(fabric.link_class(part).kind);
        })) {
      connection.nic_lead = lead;
      return;
    }
    ++connection.nic_offset;
    lead += network.links()[*link].latency + network.serialization(*link, full);
  }
}

Connected Connector::make(const fabric::DataPath& path) {
  Connected out;
  out.latency = path.latency;
  for (const fabric::Leg& leg : path.legs) {
    for (const fabric::Hop& hop : leg.hops)
      out.crosses_network |= fabric::is_network(setup_->fabric->link_class(hop.link).kind);
  }
  Connection connection;
  connection.payload = static_cast<std::uint32_t>(costs_.network.mtu.count());
  if (out.crosses_network) {
    connection.overhead = static_cast<std::uint32_t>(costs_.network.overhead.count());
  }
  const std::uint32_t full = connection.payload + connection.overhead;
  std::vector<Chain> chains = chains_of(path, connection.payload, full);
  const routing::Policy policy = setup_->routes->policy();
  connection.flowlets = out.crosses_network && policy == routing::Policy::flowlet;
  if (out.crosses_network && (setup_->routes->spreads() || connection.flowlets)) add_ways(chains);
  out.spent = chains[0].segments.front().spent_per_byte;
  out.first = chains[0].segments.front().link;
  Network& network = simulator_->network();
  add_chains(chains, connection);
  if (out.crosses_network) find_nic(connection);
  if (out.crosses_network && policy == routing::Policy::adaptive && connection.stripes > 1)
    let_switches_choose(chains, connection);
  connection.ack_path = kNone;
  if (out.crosses_network)
    connection.ack_path = network.add_path(reversed(*setup_->fabric, chains[0].segments));
  Time on_links = 0;
  for (const Segment& segment : chains[0].segments) on_links += segment.latency;
  connection.startup = std::max<Time>(0, path.latency.ps() - on_links);
  double narrowest = INFINITY;
  for (const fabric::Leg& leg : path.legs) {
    for (const fabric::Hop& hop : leg.hops)
      narrowest = std::min(narrowest, hop.effective.bytes_per_second());
  }
  const double bandwidth = path.bandwidth.bytes_per_second();
  if (bandwidth > 0 && bandwidth < narrowest * (1 - 1e-6)) {
    connection.pace = std::llround(connection.payload / bandwidth * 1e12);
  }
  if (connection.ack_path != kNone) {
    Time slowest = 1;
    for (const std::uint32_t* link = network.path(connection.path); *link != kNone; ++link)
      slowest = std::max(slowest, network.serialization(*link, full));
    connection.line_rate = full * 8e12 / static_cast<double>(slowest);
    connection.base_rtt = add_up(connection.path, full) + add_up(connection.ack_path, kAckBytes);
    const double packets =
        std::ceil(simulator_->options().window * static_cast<double>(connection.base_rtt) /
                  static_cast<double>(slowest));
    // An acknowledgement may wait for ack_every packets; the window must not end while it does.
    connection.window = static_cast<std::uint32_t>(packets) + simulator_->ack_every();
  }
  // Flows that all began with one way would meet there, packet after packet.
  if (out.crosses_network && connection.stripes > 1)
    connection.next_stripe = static_cast<std::uint32_t>(
        hash_combine(setup_->options.seed, connection.stripe_begin) % connection.stripes);
  out.connection = simulator_->add_connection(connection);
  return out;
}

// The first packet crosses every link, the others follow at the pace of the slowest, which sends
// only its share where packets take several ways; the last one may be shorter.
Time Connector::time_alone(std::uint32_t number, std::int64_t bytes) const {
  const Connection& c = simulator_->connection(number);
  if (bytes <= 0) return c.startup;
  const std::int64_t packets = (bytes + c.payload - 1) / c.payload;
  const auto last = static_cast<std::uint32_t>(bytes - (packets - 1) * c.payload) + c.overhead;
  const std::uint32_t full = c.payload + c.overhead;
  const Time crossing =
      c.startup + add_up(simulator_->paths_of(c).front(), packets > 1 ? full : last);
  if (packets == 1) return crossing;
  Network& network = simulator_->network();
  std::map<std::uint32_t, std::uint32_t> ways;  // how many of the stripes use a link
  for (const std::uint32_t path : simulator_->paths_of(c))
    for (const std::uint32_t* link = network.path(path); *link != kNone; ++link) ++ways[*link];
  double slowest = static_cast<double>(c.pace), saved = 0;
  for (const auto& [link, count] : ways) {
    const double share = static_cast<double>(count) / c.stripes;
    const double busy = static_cast<double>(network.serialization(link, full)) * share;
    if (busy < slowest) continue;
    slowest = busy;
    saved = static_cast<double>(network.serialization(link, full - last)) * share;
  }
  return crossing +
         static_cast<Time>(std::llround(slowest * static_cast<double>(packets - 1) - saved));
}

}  // namespace weft::engine::packet
