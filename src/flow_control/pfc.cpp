#include "flow_control/pfc.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace weft::flow_control {

namespace {

constexpr std::int64_t kQuantumBits = 512;

}  // namespace

Duration pause_time(std::int64_t quanta, BitRate rate) {
  return serialization_time(Bytes(quanta * kQuantumBits / 8), rate);
}

std::int64_t response_quanta(BitRate rate) {
  struct Row {
    double gbps;
    std::int64_t quanta;
  };
  constexpr std::array<Row, 7> kRows = {
      {{10, 67}, {25, 80}, {40, 118}, {50, 147}, {100, 394}, {200, 453}, {400, 905}}};
  for (const Row& row : kRows)
    if (rate.gbps() <= row.gbps) return row.quanta;
  return kRows.back().quanta;
}

Bytes headroom(BitRate rate, Duration propagation, Bytes mtu) {
  const double on_wires = 2 * propagation.to_seconds() * rate.bytes_per_second();
  const Bytes response(response_quanta(rate) * kQuantumBits / 8);
  return Bytes(std::llround(std::ceil(on_wires))) + response + 2 * mtu + kPauseFrame;
}

Bytes spectrum_xoff(BitRate rate, double cable_m) {
  constexpr double kKib = 1024;
  constexpr double kLosslessMtu = 1024, kPortMtu = 9216;  // B
  constexpr double kPeerResponse = 3.8 * kKib, kMacPhy = 0.8 * kKib;
  constexpr double kFibre = 1.98e8;      // m/s
  constexpr double kCells = 144.0 / 64;  // cells of 144 B hold packets of 64 B
  const double under_way = 2 * cable_m * static_cast<double>(rate.bps()) / (8 * kFibre);
  const double bytes = kLosslessMtu + (kPortMtu + under_way + kMacPhy + kPeerResponse) * kCells;
  return Bytes(std::llround(std::ceil(bytes / kKib) * kKib));
}

double dynamic_threshold(double alpha, double shared_bytes, double used_bytes) {
  return alpha * std::max(0.0, shared_bytes - used_bytes);
}

}  // namespace weft::flow_control
