// Every legal stack (transport, flow control, congestion control, choice of paths) on the same four
// pieces of work. Rows come from the tables of plugins, so that a new one is tested by being there.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "congestion/congestion.h"
#include "engine/packet/packet_run.h"
#include "engine/packet/test_network.h"
#include "transport/transport.h"

namespace weft::engine::packet {
namespace {

using testing::TestNetwork;

struct Stack {
  const transport::Transport* transport;
  std::string flow_control;
  const congestion::Control* control;
  routing::Policy policy;
};

// InfiniBand has credits and its own congestion control, or none; RoCE pauses or loses. RoCEv2 runs
// any other control; RoCEv1 none, for marks and telemetry are of IP. What goes through the kernel's
// sockets is no queue pair: iWARP and TCP have their own engine of flows
// (docs/models/packet_engine.md).
bool is_legal(const Stack& stack) {
  const bool infiniband = stack.transport->name() == "infiniband";
  const std::string_view control = stack.control->name();
  if (!stack.transport->name().starts_with("roce") && !infiniband) return false;
  if (infiniband != (stack.flow_control == "credit")) return false;
  if (control == "none") return true;
  return stack.transport->name() != "rocev1" && infiniband == control.starts_with("ib");
}

std::vector<Stack> stacks() {
  std::vector<Stack> out;
  for (const transport::Transport* transport : transport::all_transports())
    for (const char* flow_control : {"none", "pfc", "credit"})
      for (const congestion::Control* control : congestion::all_controls())
        for (const auto policy : {routing::Policy::ecmp, routing::Policy::spray}) {
          const Stack stack{transport, flow_control, control, policy};
          if (is_legal(stack)) out.push_back(stack);
        }
  return out;
}

std::string name_of(const ::testing::TestParamInfo<std::size_t>& info) {
  const Stack stack = stacks()[info.param];
  return fmt::format("{}_{}_{}_{}", stack.transport->name(), stack.flow_control,
                     stack.control->name(), routing::to_text(stack.policy));
}

class Conformance : public ::testing::TestWithParam<std::size_t> {
 protected:
  // RoCEv1 stays under one switch; the others cross spines.
  [[nodiscard]] bool routable() const {
    return stack_.transport->costs(stack_.transport->default_mtu()).routable;
  }

  [[nodiscard]] TestNetwork network(int leaves, int hosts, int spines) const {
    routing::RouteOptions routes;
    routes.policy = stack_.policy;
    TestNetwork out = routable() ? TestNetwork(leaves, hosts, spines, routes)
                                 : TestNetwork(1, leaves * hosts, 0, routes);
    out.setup.costs.network = stack_.transport->costs(stack_.transport->default_mtu());
    PacketOptions& packet = out.setup.packet;
    packet.flow_control = stack_.flow_control;
    packet.congestion = stack_.control->name();
    if (stack_.flow_control == "credit") {
      packet.mark_threshold = 8;
    } else if (stack_.control->name() == "dctcp") {
      packet.mark_from = packet.mark_all = Bytes(200'000);
    } else if (stack_.control->name() != "none") {
      packet.mark_by_rate = true;
    }
    return out;
  }

  // Runs, and asks that all arrived: every flow ended, every byte sent once where nothing was lost.
  result::Result run(const TestNetwork& network) {
    PacketRun run(network.setup, nullptr);
    result::Result result = run.run();
    counters_ = run.counters();
    EXPECT_EQ(result.flows.size(), network.setup.work.ops.size());
    std::uint64_t packets = 0;
    const auto mtu = static_cast<std::uint64_t>(network.setup.costs.network.mtu.count());
    for (const work::Op& op : network.setup.work.ops)
      packets +=
          (static_cast<std::uint64_t>(std::get<work::Transfer>(op.what).size.count()) + mtu - 1) /
          mtu;
    EXPECT_EQ(counters_.sent - counters_.retransmitted, packets);
    if (network.setup.packet.link_loss == 0) {
      EXPECT_EQ(counters_.drops, 0u);
      EXPECT_EQ(counters_.retransmitted, 0u);
      EXPECT_EQ(counters_.timeouts, 0u);
    }
    return result;
  }

  [[nodiscard]] Bytes packets(std::int64_t count) const {
    return count * stack_.transport->costs(stack_.transport->default_mtu()).mtu;
  }
  // Serialisation of full packets at 400 Gb/s, us. HPCC's packets carry telemetry as well.
  [[nodiscard]] double wire(std::int64_t count) const {
    const fabric::NetworkCosts costs = stack_.transport->costs(stack_.transport->default_mtu());
    const std::int64_t telemetry = stack_.control->wants_telemetry() ? Telemetry::kHeaderBytes : 0;
    return static_cast<double>(count * ((costs.mtu + costs.overhead).count() + telemetry) * 20) *
           1e-6;
  }
  // HPCC keeps a link just below its rate: eta.
  [[nodiscard]] double utilisation() const { return stack_.control->name() == "hpcc" ? 0.95 : 1; }
  static double time_of(const result::FlowRecord& flow) {
    return (flow.end - flow.start).to_microseconds();
  }

  Stack stack_ = stacks()[GetParam()];
  Counters counters_;
};

// Latency, and packet after packet: (N + hops - 1) packet times.
TEST_P(Conformance, ALoneFlowTakesItsClosedForm) {
  TestNetwork net = network(2, 2, 4);
  net.transfer(0, 2, packets(3000));
  const std::int64_t hops = routable() ? 4 : 2;
  const double expected =
      net.latency(0, 2).to_microseconds() + wire(3000 + hops - 1) / utilisation();
  EXPECT_NEAR(time_of(run(net).flows[0]), expected, 0.005 * expected);
}

// From one leaf into one host of another: each gets half, so both end together.
TEST_P(Conformance, TwoFlowsAreFair) {
  TestNetwork net = network(2, 2, 4);
  net.transfer(2, 0, packets(3000));
  net.transfer(3, 0, packets(3000));
  const result::Result result = run(net);
  const double first = time_of(result.flows[0]), second = time_of(result.flows[1]);
  EXPECT_NEAR(first, second, 0.05 * second);
  EXPECT_GE(std::max(first, second), wire(6000));
}

TEST_P(Conformance, AnIncastOfEightArrives) {
  TestNetwork net = network(2, 8, 4);
  for (std::size_t from = 8; from < 16; ++from) net.transfer(from, 0, packets(300));
  EXPECT_GE(run(net).completion.to_microseconds(), wire(8 * 300));
}

TEST_P(Conformance, APermutationOf32Arrives) {
  TestNetwork net = network(4, 8, 8);
  for (std::size_t from = 0; from < 32; ++from) net.transfer(from, (from + 10) % 32, packets(200));
  EXPECT_GE(run(net).completion.to_microseconds(), wire(200));
}

// Bit errors take one packet in a hundred on every link, acknowledgements included.
TEST_P(Conformance, LossIsMended) {
  for (const double loss : {0.001, 0.01}) {
    TestNetwork net = network(2, 4, 4);
    net.setup.packet.link_loss = loss;
    net.setup.packet.retransmission_timeout = Duration::microseconds(500);
    for (std::size_t from = 0; from < 4; ++from) net.transfer(from, 7 - from, packets(300));
    run(net);
    EXPECT_GT(counters_.losses, 0u);
    EXPECT_GT(counters_.retransmitted, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Stacks, Conformance, ::testing::Range(std::size_t{0}, stacks().size()),
                         name_of);

}  // namespace
}  // namespace weft::engine::packet
