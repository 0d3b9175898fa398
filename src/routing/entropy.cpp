#include "base/random.h"
#include "routing/routes.h"

namespace weft::routing {

namespace {

// 24 bits, as an InfiniBand or RoCE queue pair number has.
std::uint64_t queue_pair_number(fabric::DeviceId nic, fabric::DeviceId peer,
                                std::uint32_t queue_pair) {
  const std::uint64_t h = hash_combine(hash_combine(mix64(nic.index()), peer.index()), queue_pair);
  return h & 0xffffffu;
}

}  // namespace

std::uint16_t udp_source_port(fabric::DeviceId from_nic, fabric::DeviceId to_nic,
                              std::uint32_t queue_pair) {
  // Flow label: the product of both numbers folded to 20 bits. Port: its two parts folded to 14
  // bits, in the upper quarter of the range.
  std::uint64_t product = queue_pair_number(from_nic, to_nic, queue_pair) *
                          queue_pair_number(to_nic, from_nic, queue_pair);
  product ^= product >> 20;
  product ^= product >> 40;
  const std::uint64_t label = product & 0xfffffu;
  return static_cast<std::uint16_t>(0xc000u | ((label & 0x3fffu) ^ (label >> 14)));
}

std::uint64_t entropy_of(fabric::DeviceId from_nic, fabric::DeviceId to_nic,
                         std::uint32_t queue_pair) {
  constexpr std::uint64_t kUdp = 17, kRocePort = 4791;
  const std::uint64_t addresses = (std::uint64_t{from_nic.value} << 32) | to_nic.value;
  const std::uint64_t source_port = udp_source_port(from_nic, to_nic, queue_pair);
  const std::uint64_t rest = (kUdp << 32) | (source_port << 16) | kRocePort;
  return hash_combine(mix64(addresses), rest);
}

}  // namespace weft::routing
