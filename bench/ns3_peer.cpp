#include "ns3_peer.h"

#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-module.h>
#include <sys/resource.h>

#include <cstdio>
#include <vector>

namespace weft::bench {

namespace {

constexpr std::uint32_t kFrame = 54;           // what the engine beside it puts around a payload
constexpr std::uint32_t kAround = 2 + 20 + 8;  // PPP, IPv4, UDP
constexpr std::uint16_t kPort = 9;

}  // namespace

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Ns3Network::Objects {
  Ns3Transport transport = Ns3Transport::udp;
  ns3::NodeContainer leaves, spines, hosts;
  ns3::PointToPointHelper wires;
  std::vector<ns3::Ipv4Address> addresses;  // by host
  ns3::ApplicationContainer servers;
  std::uint32_t nets = 0;
  std::uint64_t bytes = 0, hops = 0;  // bytes: of UDP, packets
  ns3::TrafficControlHelper marking;

  void count(ns3::Ptr<const ns3::Packet> /*packet*/) { ++hops; }

  ns3::Ipv4Address join(const ns3::Ptr<ns3::Node>& below, const ns3::Ptr<ns3::Node>& above) {
    const ns3::NetDeviceContainer ends = wires.Install(below, above);
    ns3::Ipv4AddressHelper helper;
    helper.SetBase(ns3::Ipv4Address(0x0a000000u + 4 * nets++), "255.255.255.252");
    const ns3::Ipv4InterfaceContainer given = helper.Assign(ends);
    ns3::TrafficControlHelper().Uninstall(ends);
    if (transport == Ns3Transport::dctcp) marking.Install(ends);
    for (std::uint32_t i = 0; i < ends.GetN(); ++i)
      ends.Get(i)->TraceConnectWithoutContext("PhyRxEnd", ns3::MakeCallback(&Objects::count, this));
    return given.GetAddress(0);
  }
};

namespace {

// Marks above 87,150 B (21 packets), as the engine beside it. Packets that overtake one another on
// their ways are no loss.
void set_dctcp(ns3::TrafficControlHelper& marking) {
  using ns3::Config::SetDefault;
  SetDefault("ns3::TcpL4Protocol::SocketType", ns3::StringValue("ns3::TcpDctcp"));
  SetDefault("ns3::TcpSocketBase::UseEcn", ns3::StringValue("On"));
  SetDefault("ns3::TcpSocketBase::ReTxThreshold", ns3::UintegerValue(1000));
  SetDefault("ns3::TcpSocket::SegmentSize", ns3::UintegerValue(4096));
  SetDefault("ns3::TcpSocket::InitialCwnd", ns3::UintegerValue(100));
  SetDefault("ns3::TcpSocket::SndBufSize", ns3::UintegerValue(4'000'000));
  SetDefault("ns3::TcpSocket::RcvBufSize", ns3::UintegerValue(4'000'000));
  SetDefault("ns3::TcpSocketBase::MinRto", ns3::TimeValue(ns3::MilliSeconds(1)));
  SetDefault("ns3::RedQueueDisc::UseEcn", ns3::BooleanValue(true));
  SetDefault("ns3::RedQueueDisc::QW", ns3::DoubleValue(1));
  SetDefault("ns3::RedQueueDisc::Gentle", ns3::BooleanValue(false));
  SetDefault("ns3::RedQueueDisc::MinTh", ns3::DoubleValue(21));
  SetDefault("ns3::RedQueueDisc::MaxTh", ns3::DoubleValue(81));
  SetDefault("ns3::RedQueueDisc::MaxSize", ns3::StringValue("100000p"));
  marking.SetRootQueueDisc("ns3::RedQueueDisc", "LinkBandwidth", ns3::StringValue("400Gbps"),
                           "LinkDelay", ns3::StringValue("1us"));
}

}  // namespace

Ns3Network::Ns3Network(std::uint32_t leaves, std::uint32_t hosts_per_leaf, std::uint32_t spines,
                       Ns3Transport transport)
    : objects_(std::make_unique<Objects>()) {
  ns3::Config::SetDefault("ns3::Ipv4GlobalRouting::RandomEcmpRouting", ns3::BooleanValue(true));
  Objects& o = *objects_;
  o.transport = transport;
  if (transport == Ns3Transport::dctcp) set_dctcp(o.marking);
  o.leaves.Create(leaves);
  o.spines.Create(spines);
  o.hosts.Create(leaves * hosts_per_leaf);
  ns3::InternetStackHelper stack;
  for (const ns3::NodeContainer* nodes : {&o.leaves, &o.spines, &o.hosts}) stack.Install(*nodes);
  o.wires.SetDeviceAttribute("DataRate", ns3::StringValue("400Gbps"));
  o.wires.SetDeviceAttribute("Mtu", ns3::UintegerValue(9000));
  o.wires.SetChannelAttribute("Delay", ns3::StringValue("1us"));
  o.wires.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", ns3::StringValue("100000p"));
  for (std::uint32_t h = 0; h < leaves * hosts_per_leaf; ++h)
    o.addresses.push_back(o.join(o.hosts.Get(h), o.leaves.Get(h / hosts_per_leaf)));
  for (std::uint32_t l = 0; l < leaves; ++l)
    for (std::uint32_t s = 0; s < spines; ++s) o.join(o.leaves.Get(l), o.spines.Get(s));
  ns3::Ipv4GlobalRoutingHelper::PopulateRoutingTables();
}

Ns3Network::~Ns3Network() = default;

void Ns3Network::send(std::uint32_t from, std::uint32_t to, std::uint32_t packets,
                      std::uint32_t payload) {
  Objects& o = *objects_;
  const ns3::Ptr<ns3::Node> source = o.hosts.Get(from), target = o.hosts.Get(to);
  if (o.transport == Ns3Transport::dctcp) {
    const ns3::InetSocketAddress any(ns3::Ipv4Address::GetAny(), kPort);
    ns3::PacketSinkHelper sink("ns3::TcpSocketFactory", any);
    o.servers.Add(sink.Install(target));
    ns3::BulkSendHelper bulk("ns3::TcpSocketFactory",
                             ns3::InetSocketAddress(o.addresses[to], kPort));
    bulk.SetAttribute("MaxBytes", ns3::UintegerValue(std::uint64_t{packets} * payload));
    bulk.SetAttribute("SendSize", ns3::UintegerValue(payload));
    bulk.Install(source).Start(ns3::Seconds(0));
    o.bytes += std::uint64_t{packets} * payload;
    return;
  }
  const std::uint32_t wire = payload + kFrame;
  o.servers.Add(ns3::UdpServerHelper(kPort).Install(target));
  ns3::UdpClientHelper client(o.addresses[to], kPort);
  client.SetAttribute("MaxPackets", ns3::UintegerValue(packets));
  client.SetAttribute("Interval", ns3::TimeValue(ns3::PicoSeconds(wire * 8000ull / 400)));
  client.SetAttribute("PacketSize", ns3::UintegerValue(wire - kAround));
  client.Install(source).Start(ns3::Seconds(0));
  o.bytes += packets;
}

PeerAnswer Ns3Network::run() {
  Objects& o = *objects_;
  ns3::Simulator::Stop(ns3::Seconds(1));
  const double before = cpu_seconds();
  ns3::Simulator::Run();
  const PeerAnswer answer = {cpu_seconds() - before, o.hops, ns3::Simulator::GetEventCount()};
  std::uint64_t received = 0;
  for (std::uint32_t i = 0; i < o.servers.GetN(); ++i) {
    const ns3::Ptr<ns3::Application> server = o.servers.Get(i);
    received += o.transport == Ns3Transport::dctcp
                    ? server->GetObject<ns3::PacketSink>()->GetTotalRx()
                    : server->GetObject<ns3::UdpServer>()->GetReceived();
  }
  if (received != o.bytes) std::printf("ns-3 did not deliver all\n");
  ns3::Simulator::Destroy();
  return answer;
}

}  // namespace weft::bench
