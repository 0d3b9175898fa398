// What a network must refuse: routes with a circle of buffers are found before a run, with the
// circle; when packets do stop in one, the run says so and names who waits for whom. RoCEv1 does
// not leave its L2 domain.
#include <gtest/gtest.h>

#include "base/errors.h"
#include "engine/packet/test_network.h"
#include "routing/deadlock.h"
#include "topology/topology.h"
#include "transport/transport.h"

namespace weft::engine::packet {
namespace {

std::string fault_of(const Setup& setup) {
  try {
    (void)packet_engine().run(setup, nullptr);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

// A ring of six routers without a dateline, every host sends to the one two routers on. Each link
// has twice what it can carry, so all buffers fill, and each waits for the next.
TEST(TorusWithPauses, CircleIsFoundBeforeAndReportedWhenItStops) {
  const fabric::Fabric server = fabric::testing::small_server();
  topology::Inputs inputs;
  inputs.servers.assign(6, &server);
  inputs.parameters = {{"dim_1", 6}};
  inputs.switch_class.kind = fabric::DeviceKind::network_switch;
  inputs.switch_class.model = "switch";
  inputs.switch_class.radix = 16;
  inputs.host_link = inputs.fabric_link = fabric::testing::cable(fabric::LinkKind::ethernet, 5);
  const fabric::Fabric fabric = topology::find_topology("torus")->build(inputs);
  routing::RouteOptions options;
  options.policy = routing::Policy::dimension_order;
  const routing::Routes routes(fabric, options);
  const auto circle = routing::find_buffer_cycle(fabric, routes);
  ASSERT_EQ(circle.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_EQ(fabric.to(circle[i]), fabric.from(circle[(i + 1) % 6]));
  EXPECT_TRUE(routing::find_buffer_cycle(fabric, routes, routing::Channels::dateline).empty());

  engine::Setup setup;
  setup.fabric = &fabric;
  setup.routes = &routes;
  setup.costs.network.name = "rocev1";
  setup.costs.network.overhead = Bytes(82);
  setup.packet.flow_control = "pfc";
  setup.packet.window = 1000;
  setup.packet.switch_buffer = Bytes(400'000);
  setup.work.groups.emplace_back();
  for (std::size_t i = 0; i < 6; ++i) {
    setup.work.rank_gpu.push_back(static_cast<std::uint32_t>(i));
    setup.work.groups[0].emplace_back(i);
    setup.work.ops.push_back(
        {work::Transfer{work::RankId(i), work::RankId((i + 2) % 6), Bytes::mib(32)}, {}, {}, {}});
  }
  const std::string fault = fault_of(setup);
  EXPECT_NE(fault.find("deadlock: "), std::string::npos) << fault;
  EXPECT_NE(fault.find(" waits for "), std::string::npos) << fault;
}

TEST(RoceV1, StaysInItsSubnet) {
  const transport::Transport& v1 = *transport::find_transport("rocev1");
  testing::TestNetwork network(2, 2, 1);
  network.setup.costs.network = v1.costs(v1.default_mtu());
  network.setup.options.via = fabric::Via::gdr;  // else it would fall back on TCP, which has IP
  network.transfer(0, 1, Bytes(100'000));
  EXPECT_EQ(fault_of(network.setup), "");
  network.transfer(0, 2, Bytes(100'000));
  EXPECT_NE(fault_of(network.setup).find("cannot be routed: leaf0 -> spine0 leaves its subnet"),
            std::string::npos)
      << fault_of(network.setup);
}

}  // namespace
}  // namespace weft::engine::packet
