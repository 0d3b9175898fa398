// Any network that is written for ibsim and read again is the same network.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "emit/emitter.h"
#include "emit/network_ports.h"
#include "import/dump_test_support.h"

namespace weft::emit {
namespace {

// Every cable as "name[port]" to "name[port]", both ways.
std::set<std::pair<std::string, std::string>> cables_of(const fabric::Fabric& f) {
  std::set<std::pair<std::string, std::string>> cables;
  for (const fabric::DeviceId device : network_devices(f)) {
    for (const NetworkPort& port : network_ports(f, device)) {
      cables.emplace(std::string(f.name(device)) + "[" + std::to_string(port.number) + "]",
                     std::string(f.name(f.to(port.link))) + "[" +
                         std::to_string(arrival_port(f, port.link)) + "]");
    }
  }
  return cables;
}

TEST(IbsimNet, WhatIsWrittenAndReadAgainIsTheSameNetwork) {
  for (const char* name :
       {"ib/topograph_ndr_40_switches.txt", "ib/two_leaves.txt", "ib/small.net"}) {
    const fabric::Fabric f = import::import_data(name);
    const fabric::Fabric again = import::import_dump(ibsim_net_emitter().write(f, {"test", 1, 1}));
    const auto cables = cables_of(f);
    EXPECT_FALSE(cables.empty());
    EXPECT_EQ(cables, cables_of(again)) << name;
  }
}

TEST(IbsimNet, APlainServerIsRefused) {
  const fabric::Fabric server = import::import_data("nccl/aws_p4d.xml");
  EXPECT_THROW(static_cast<void>(ibsim_net_emitter().write(server, {"test", 1, 1})), InputError);
}

}  // namespace
}  // namespace weft::emit
