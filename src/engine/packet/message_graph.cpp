#include "engine/packet/message_graph.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/check.h"

namespace weft::engine::packet {

using collective::Edge;
using collective::kSwitchPlane;
using collective::Step;

namespace {

// Messages that wait for nothing which a rank has under way at once, or one a channel: NCCL has up
// to 32 channels for sends and receives.
constexpr std::size_t kLanes = 32;

// Names of sets of chunks.
class ChunkSets {
 public:
  std::uint32_t of(const std::vector<std::uint32_t>& chunks) {
    const auto [at, is_new] = known_.try_emplace(chunks, static_cast<std::uint32_t>(sets_.size()));
    if (is_new) {
      sets_.push_back(&at->first);
      for (const std::uint32_t chunk : chunks) containing_[chunk].push_back(at->second);
    }
    return at->second;
  }
  // Sets that share a chunk with `set`, ascending.
  void overlapping(std::uint32_t set, std::vector<std::uint32_t>& out) const {
    out.clear();
    for (const std::uint32_t chunk : *sets_[set]) {
      const auto& sets = containing_.at(chunk);
      out.insert(out.end(), sets.begin(), sets.end());
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
  }

 private:
  std::map<std::vector<std::uint32_t>, std::uint32_t> known_;
  std::vector<const std::vector<std::uint32_t>*> sets_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> containing_;
};

// A message before its way is known.
struct Logical {
  std::uint32_t from = 0, to = 0, round = 0, set = 0;
  std::uint16_t channel = 0;
  std::int64_t bytes = 0;
  // Phase within the round: down from a switch comes after up to it.
  bool down = false;
  bool reduce = false;
  std::uint32_t switch_op = kNoMessage;
};

// A way that the fluid view gives between two ranks: its part of the bytes, and over which NICs.
struct Way {
  std::uint32_t from = 0, to = 0;
  std::uint16_t channel = 0;
  std::uint32_t sender = 0;
  fabric::DeviceId from_nic, to_nic;
  double bytes = 0;
  [[nodiscard]] auto key() const { return std::tuple(from, to, channel); }
};

}  // namespace

class MessageGraphBuilder {
 public:
  MessageGraphBuilder(const collective::ChannelPlan& plan, const collective::Fluid& fluid,
                      MessageGraph& graph)
      : plan_(plan), graph_(graph) {
    for (const Edge& edge : fluid.edges) {
      if (edge.relay || edge.multicast || !edge.from_nic.valid() || edge.bytes <= 0) continue;
      const std::uint32_t origin = edge.origin == kSwitchPlane ? edge.from : edge.origin;
      ways_.push_back(
          {origin, edge.to, edge.channel, edge.from, edge.from_nic, edge.to_nic, edge.bytes});
    }
    merge_ways();
  }

  void take(const Step& step) {
    graph_.needs_network_reduction_ |= step.in_network;
    if (step.size.count() == 0 || step.in_network) return;
    if (step.in_switch) {
      close();
      take_switch_step(step);
      return;
    }
    if (!open_chunks_.empty() && open_.from == step.from && open_.to == step.to &&
        open_.round == step.round && open_.channel == step.channel && open_.reduce == step.reduce) {
      open_.bytes += step.size.count();
      open_chunks_.push_back(step.chunk);
      return;
    }
    close();
    open_ = {};
    open_.from = step.from;
    open_.to = step.to;
    open_.round = step.round;
    open_.channel = step.channel;
    open_.reduce = step.reduce;
    open_.bytes = step.size.count();
    open_chunks_.assign(1, step.chunk);
  }

  void finish() {
    close();
    find_dependencies();
    lay_ways();
    link_in_order();
    turn_around();
  }

 private:
  // One entry a way: up one tree and down the other are two edges over the same NICs, and a message
  // that went in two parts, one behind the other, would wait for its second half.
  void merge_ways() {
    const auto full_key = [](const Way& way) {
      return std::tuple(way.key(), way.sender, way.from_nic, way.to_nic);
    };
    std::stable_sort(ways_.begin(), ways_.end(),
                     [&](const Way& a, const Way& b) { return full_key(a) < full_key(b); });
    std::size_t end = 0;
    for (const Way& way : ways_) {
      if (end > 0 && full_key(ways_[end - 1]) == full_key(way)) {
        ways_[end - 1].bytes += way.bytes;
      } else {
        ways_[end++] = way;
      }
    }
    ways_.resize(end);
  }

  void close() {
    if (open_chunks_.empty()) return;
    open_.set = sets_.of(open_chunks_);
    open_chunks_.clear();
    logical_.push_back(open_);
  }

  std::uint32_t add_switch_message(const Step& step, std::uint32_t from, std::uint32_t to,
                                   std::uint32_t op) {
    Logical m;
    m.from = from;
    m.to = to;
    m.round = step.round;
    m.channel = step.channel;
    m.set = sets_.of({step.chunk});
    m.bytes = step.size.count();
    m.down = from == kSwitchPlane;
    m.switch_op = op;
    logical_.push_back(m);
    return static_cast<std::uint32_t>(logical_.size() - 1);
  }

  // One reduction or multicast in the switches: whoever has the chunk sends it up once, the head's
  // own copy included; whoever wants it gets it once.
  void take_switch_step(const Step& step) {
    const std::uint32_t head = step.reduce ? step.to : step.from;
    const auto key = std::tuple(step.round, step.channel, step.chunk, head);
    const auto [at, is_new] =
        switch_ops_.try_emplace(key, static_cast<std::uint32_t>(switch_ops_.size()));
    if (is_new) {
      add_switch_message(step, head, kSwitchPlane, at->second);
      add_switch_message(step, kSwitchPlane, head, at->second);
    }
    if (step.reduce) {
      add_switch_message(step, step.from, kSwitchPlane, at->second);
    } else {
      add_switch_message(step, kSwitchPlane, step.to, at->second);
    }
  }

  // What a rank had received of a chunk before the round in which it sends it on.
  void find_dependencies() {
    struct Delivery {
      std::uint32_t to, set, round, message;
      std::uint16_t channel;
      [[nodiscard]] auto key() const { return std::tuple(to, channel, set, round, message); }
    };
    std::vector<Delivery> deliveries;
    std::vector<std::vector<std::uint32_t>> ups(switch_ops_.size());
    for (std::uint32_t m = 0; m < logical_.size(); ++m) {
      const Logical& l = logical_[m];
      if (l.to == kSwitchPlane) {
        ups[l.switch_op].push_back(m);
      } else {
        deliveries.push_back({l.to, l.set, l.round, m, l.channel});
      }
    }
    std::sort(deliveries.begin(), deliveries.end(),
              [](const Delivery& a, const Delivery& b) { return a.key() < b.key(); });
    needs_begin_.push_back(0);
    std::vector<std::uint32_t> sets;
    for (const Logical& l : logical_) {
      if (l.down) {
        for (const std::uint32_t up : ups[l.switch_op]) needs_.push_back({up, true});
      } else {
        sets_.overlapping(l.set, sets);
        for (const std::uint32_t set : sets) {
          const auto low = std::tuple(l.from, l.channel, set, 0u, 0u);
          auto at =
              std::lower_bound(deliveries.begin(), deliveries.end(), low,
                               [](const Delivery& d, const auto& key) { return d.key() < key; });
          for (; at != deliveries.end() && at->to == l.from && at->channel == l.channel &&
                 at->set == set && at->round < l.round;
               ++at) {
            needs_.push_back({at->message, set == l.set});
          }
        }
      }
      needs_begin_.push_back(static_cast<std::uint32_t>(needs_.size()));
    }
  }

  // Ways of this pair of ranks on this channel, else on any; empty when the fluid view names none.
  [[nodiscard]] std::span<const Way> ways_of(const Logical& l) const {
    const auto find = [&](const auto& low, const auto& high) {
      const auto begin =
          std::lower_bound(ways_.begin(), ways_.end(), low,
                           [](const Way& way, const auto& key) { return way.key() < key; });
      const auto end =
          std::upper_bound(begin, ways_.end(), high,
                           [](const auto& key, const Way& way) { return key < way.key(); });
      return std::span(begin, end);
    };
    const auto own = find(std::tuple(l.from, l.to, l.channel), std::tuple(l.from, l.to, l.channel));
    if (!own.empty()) return own;
    return find(std::tuple(l.from, l.to, std::uint16_t{0}),
                std::tuple(l.from, l.to, std::uint16_t{0xffff}));
  }

  MessageId add_leg(const Logical& l, std::uint32_t from, std::uint32_t to, std::int64_t bytes) {
    Message m;
    m.from = from;
    m.to = to;
    m.round = l.round;
    m.reduces = l.reduce;
    m.channel = l.channel;
    m.bytes = bytes;
    m.crosses =
        from != kSwitchPlane && to != kSwitchPlane && plan_.rank_node[from] != plan_.rank_node[to];
    graph_.messages_.push_back(m);
    legs_before_.emplace_back();
    return static_cast<MessageId>(graph_.messages_.size() - 1);
  }

  // Each logical message becomes one or more that share a way each; what waited for it waits for
  // the last leg of all of them.
  void lay_ways() {
    std::vector<MessageId> entries;
    last_begin_.push_back(0);
    for (std::uint32_t m = 0; m < logical_.size(); ++m) {
      entries.clear();
      lay_ways_of(logical_[m], entries);
      for (const MessageId entry : entries) entry_of_.emplace_back(entry, m);
      last_begin_.push_back(static_cast<std::uint32_t>(last_.size()));
    }
    for (const auto& [entry, m] : entry_of_) {
      for (std::uint32_t i = needs_begin_[m]; i < needs_begin_[m + 1]; ++i) {
        const Dependency need = needs_[i];
        graph_.messages_[entry].chained = !logical_[m].down;
        for (std::uint32_t k = last_begin_[need.message]; k < last_begin_[need.message + 1]; ++k)
          legs_before_[entry].push_back({last_[k], need.follows});
      }
    }
  }

  void lay_ways_of(const Logical& l, std::vector<MessageId>& entries) {
    const bool crosses = l.from != kSwitchPlane && l.to != kSwitchPlane &&
                         plan_.rank_node[l.from] != plan_.rank_node[l.to];
    const std::span<const Way> ways = crosses ? ways_of(l) : std::span<const Way>();
    if (ways.empty()) {
      entries.push_back(add_leg(l, l.from, l.to, l.bytes));
      last_.push_back(entries.back());
      return;
    }
    double total = 0, done = 0;
    for (const Way& way : ways) total += way.bytes;
    std::int64_t sent = 0;
    for (const Way& way : ways) {
      done += way.bytes;
      const auto until = static_cast<std::int64_t>(static_cast<double>(l.bytes) * (done / total));
      const std::int64_t bytes = (&way == &ways.back() ? l.bytes : until) - sent;
      if (bytes <= 0) continue;
      sent += bytes;
      MessageId entry = kNoMessage;
      if (way.sender != l.from) entry = add_leg(l, l.from, way.sender, bytes);
      const MessageId leg = add_leg(l, way.sender, l.to, bytes);
      graph_.messages_[leg].from_nic = way.from_nic;
      graph_.messages_[leg].to_nic = way.to_nic;
      if (entry != kNoMessage) legs_before_[leg].push_back({entry, true});
      entries.push_back(entry != kNoMessage ? entry : leg);
      last_.push_back(leg);
    }
  }

  // What goes through NVSwitches goes all at once, chunk beside chunk.
  [[nodiscard]] bool in_switch(MessageId m) const {
    const Message& x = graph_.messages_[m];
    return x.from == kSwitchPlane || x.to == kSwitchPlane;
  }

  [[nodiscard]] auto way(MessageId m) const {
    const Message& x = graph_.messages_[m];
    return std::tuple(x.from, x.to, x.channel, x.from_nic, x.to_nic, x.reduces);
  }

  // Whether `b`, behind `a` on a way or on the next, waits until it has left. A gap in the rounds
  // ends a phase: what lies between goes over other links. So does the end of reducing: sums on
  // their way up one tree do not hold up what comes down another. Messages that wait for nothing
  // are for different ranks (PXN), and go beside one another; of a relay's messages its own go
  // first, while the others come in.
  [[nodiscard]] bool queues_behind(MessageId a, MessageId b) const {
    const std::uint32_t before = graph_.messages_[a].round, after = graph_.messages_[b].round;
    if (way(a) != way(b) || after > before + 1) return false;
    return after > before || !legs_before_[a].empty() || !legs_before_[b].empty();
  }

  void link_in_order() {
    std::vector<Message>& messages = graph_.messages_;
    std::vector<MessageId> order;
    for (MessageId m = 0; m < messages.size(); ++m) {
      if (in_switch(m)) {
        messages[m].next_piece = m;
      } else {
        order.push_back(m);
      }
    }
    std::stable_sort(order.begin(), order.end(), [&](MessageId a, MessageId b) {
      return std::tuple(way(a), messages[a].round, !legs_before_[a].empty()) <
             std::tuple(way(b), messages[b].round, !legs_before_[b].empty());
    });
    std::size_t first = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i + 1 < order.size() && queues_behind(order[i], order[i + 1])) {
        messages[order[i]].next_on_way = order[i + 1];
      } else {
        messages[order[i]].next_piece = order[first];
        first = i + 1;
      }
    }
    link_lanes(std::move(order));
  }

  // Lanes of each rank's messages that wait for nothing.
  void link_lanes(std::vector<MessageId> order) {
    std::vector<Message>& messages = graph_.messages_;
    const std::size_t lanes = std::max(kLanes, plan_.channels.size());
    std::erase_if(order, [&](MessageId m) { return !legs_before_[m].empty(); });
    std::stable_sort(order.begin(), order.end(), [&](MessageId a, MessageId b) {
      return std::tuple(messages[a].from, messages[a].round) <
             std::tuple(messages[b].from, messages[b].round);
    });
    for (std::size_t i = 0; i + lanes < order.size(); ++i) {
      const MessageId next = order[i + lanes];
      if (messages[order[i]].from == messages[next].from && messages[order[i]].next_on_way != next)
        messages[order[i]].next_in_lane = next;
    }
  }

  void turn_around() {
    const std::size_t count = graph_.messages_.size();
    graph_.before_begin_.assign(1, 0);
    std::vector<std::uint32_t> waiting(count + 1);
    for (std::vector<Dependency>& before : legs_before_) {
      for (const Dependency& d : before) {
        ++waiting[d.message + 1];
        graph_.waits_for_whole_ |= !d.follows;
      }
      graph_.before_.insert(graph_.before_.end(), before.begin(), before.end());
      graph_.before_begin_.push_back(static_cast<std::uint32_t>(graph_.before_.size()));
      before = {};
    }
    for (std::size_t i = 0; i < count; ++i) waiting[i + 1] += waiting[i];
    graph_.after_begin_ = waiting;
    graph_.after_.resize(graph_.before_.size());
    for (MessageId m = 0; m < count; ++m) {
      for (const Dependency& d : graph_.before(m))
        graph_.after_[waiting[d.message]++] = {m, d.follows};
    }
  }

  const collective::ChannelPlan& plan_;
  MessageGraph& graph_;
  std::vector<Way> ways_;
  ChunkSets sets_;
  Logical open_;
  std::vector<std::uint32_t> open_chunks_;
  std::vector<Logical> logical_;
  std::map<std::tuple<std::uint32_t, std::uint16_t, std::uint32_t, std::uint32_t>, std::uint32_t>
      switch_ops_;
  std::vector<std::uint32_t> needs_begin_;
  std::vector<Dependency> needs_;  // by logical message
  std::vector<std::uint32_t> last_begin_;
  std::vector<MessageId> last_;  // legs that deliver, by logical message
  std::vector<std::pair<MessageId, std::uint32_t>> entry_of_;
  std::vector<std::vector<Dependency>> legs_before_;
};

MessageGraph::MessageGraph(const collective::Algorithm& algorithm,
                           const collective::Request& request, const collective::ChannelPlan& plan,
                           const collective::Fluid& fluid) {
  MessageGraphBuilder builder(plan, fluid, *this);
  algorithm.steps(request, plan, [&](const Step& step) { builder.take(step); });
  builder.finish();
}

}  // namespace weft::engine::packet
