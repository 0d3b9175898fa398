// Random small scenarios through the packet engine: fabric, stack and work are drawn from one seed.
// Whatever they are, all bytes arrive, nothing is lost that should not be, no link carries more
// than its rate, and a second run gives the same bits; that buffers and credits add up the engine
// checks itself. 200 seeds, or --count=N from --seed=N on; a failure prints the line that replays
// it.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "base/errors.h"
#include "base/random.h"
#include "congestion/congestion.h"
#include "engine/packet/packet_run.h"
#include "engine/packet/test_network.h"
#include "transport/transport.h"

namespace weft::engine::packet {
namespace {

struct Range {
  std::uint64_t seed = 0, count = 200;
};
Range& range() {
  static Range range;
  return range;
}

class Scenario {
 public:
  explicit Scenario(std::uint64_t seed) : random_(seed, 0), network_(draw_network()) {
    network_.setup.options.seed = network_.setup.packet.seed = seed;
    draw_stack();
    const std::size_t hosts = network_.setup.work.rank_gpu.size();
    const std::size_t ops = 1 + random_.below(16);
    for (std::size_t i = 0; i < ops; ++i) {
      const Bytes size(
          static_cast<std::int64_t>(random_.below(std::uint64_t{1} << (6 + random_.below(17)))));
      std::vector<work::OpId> after;
      if (i > 0 && random_.below(3) == 0) after.emplace_back(random_.below(i));
      network_.transfer(random_.below(hosts), random_.below(hosts), size, std::move(after));
    }
  }

  void run_and_check() {
    Counters first, second;
    const result::Result a = run(first), b = run(second);
    EXPECT_EQ(a.completion, b.completion);
    EXPECT_EQ(a.engine.events, b.engine.events);
    EXPECT_EQ(a.flows.size(), network_.setup.work.ops.size());
    EXPECT_EQ(first.sent - first.retransmitted, packets());
    const PacketOptions& options = network_.setup.packet;
    if (!options.queue_limit && options.link_loss == 0) {
      EXPECT_EQ(first.drops, 0u);
      EXPECT_EQ(first.timeouts, 0u);
    }
    for (const result::LinkLoad& load : a.links) EXPECT_LE(load.utilisation, 1 + 1e-6);
  }

 private:
  testing::TestNetwork draw_network() {
    constexpr std::array kPolicies = {routing::Policy::ecmp, routing::Policy::spray,
                                      routing::Policy::up_down};
    constexpr std::array kTransports = {"rocev2", "infiniband", "rocev1"};
    transport_ = transport::find_transport(kTransports[random_.below(kTransports.size())]);
    routing::RouteOptions routes;
    routes.policy = kPolicies[random_.below(kPolicies.size())];
    const bool flat = transport_->name() == "rocev1" || random_.below(4) == 0;
    const auto small = [&](std::uint64_t most) {
      return static_cast<int>(1 + random_.below(most));
    };
    const int leaves = flat ? 1 : 1 + small(3), hosts = 1 + small(4), spines = small(4);
    return {leaves, hosts, flat ? 0 : spines, routes};
  }

  void draw_stack() {
    network_.setup.costs.network = transport_->costs(transport_->default_mtu());
    PacketOptions& packet = network_.setup.packet;
    const bool infiniband = transport_->name() == "infiniband";
    packet.flow_control = infiniband ? "credit" : random_.below(2) == 0 ? "pfc" : "none";
    packet.window = 1 + static_cast<double>(random_.below(8));
    const auto controls = congestion::all_controls();
    const congestion::Control* control = controls[random_.below(controls.size())];
    if (transport_->name() == "rocev1" || infiniband != control->name().starts_with("ib"))
      control = congestion::find_control("none");
    packet.congestion = control->name();
    if (infiniband) {
      packet.mark_threshold = static_cast<int>(1 + random_.below(15));
    } else {
      packet.mark_by_rate = random_.below(2) == 0;
    }
    if (random_.below(4) == 0) packet.link_loss = 0.002;
    if (packet.flow_control == "none" && random_.below(3) == 0) {
      packet.queue_limit = Bytes(200'000);
      packet.retransmission_timeout = Duration::microseconds(500);
    }
  }

  [[nodiscard]] result::Result run(Counters& counters) const {
    PacketRun run(network_.setup, nullptr);
    result::Result result = run.run();
    counters = run.counters();
    return result;
  }

  [[nodiscard]] std::uint64_t packets() const {
    std::uint64_t total = 0;
    const auto mtu = static_cast<std::uint64_t>(network_.setup.costs.network.mtu.count());
    for (const work::Op& op : network_.setup.work.ops) {
      const auto& transfer = std::get<work::Transfer>(op.what);
      if (transfer.from != transfer.to)
        total += (static_cast<std::uint64_t>(transfer.size.count()) + mtu - 1) / mtu;
    }
    return total;
  }

  RandomStream random_;
  const transport::Transport* transport_ = nullptr;
  testing::TestNetwork network_;
};

TEST(RandomScenarios, Hold) {
  for (std::uint64_t seed = range().seed; seed < range().seed + range().count; ++seed) {
    SCOPED_TRACE(fmt::format("replay: weft_random_scenarios_test --seed={} --count=1", seed));
    try {
      Scenario(seed).run_and_check();
    } catch (const InputError& error) {
      ADD_FAILURE() << error.what();
    }
    if (HasFailure()) return;
  }
}

}  // namespace

void read_arguments(int count, char** values) {
  for (int i = 1; i < count; ++i) {
    const std::string text = values[i];
    if (text.starts_with("--seed=")) range().seed = std::stoull(text.substr(7));
    if (text.starts_with("--count=")) range().count = std::stoull(text.substr(8));
  }
}

}  // namespace weft::engine::packet

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  weft::engine::packet::read_arguments(argc, argv);
  return RUN_ALL_TESTS();
}
