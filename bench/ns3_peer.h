// ns-3 behind a plain interface: its headers are not C++20, so that it is a translation unit of its
// own (C++17) and includes nothing of Weft's.
#pragma once

#include <cstdint>
#include <memory>

namespace weft::bench {

struct PeerAnswer {
  double seconds = 0;  // of CPU
  std::uint64_t packet_hops = 0, events = 0;
};

double cpu_seconds();

// What carries the bytes: UDP at line rate over devices without queue discs (least work), or TCP
// DCTCP over RED queue discs that mark, as the engine beside it runs windows, acks and ECN.
enum class Ns3Transport { udp, dctcp };

// A leaf-spine network of 400 Gb/s links of 1 us, every packet on a random shortest path.
class Ns3Network {
 public:
  Ns3Network(std::uint32_t leaves, std::uint32_t hosts_per_leaf, std::uint32_t spines,
             Ns3Transport transport);
  ~Ns3Network();
  Ns3Network(const Ns3Network&) = delete;
  Ns3Network& operator=(const Ns3Network&) = delete;

  // `packets` of `payload` bytes each from the first moment on.
  void send(std::uint32_t from, std::uint32_t to, std::uint32_t packets, std::uint32_t payload);
  PeerAnswer run();  // once

 private:
  struct Objects;
  std::unique_ptr<Objects> objects_;
};

}  // namespace weft::bench
