#include "fabric/path_costs.h"

#include "base/check.h"

namespace weft::fabric {

Duration registration_time(const PathCosts& costs, Bytes size) {
  return costs.registration_base +
         Duration::from_nanoseconds(costs.registration_ns_per_byte * size.to_double());
}

SocketRates socket_rates(const PathCosts& costs) {
  const Duration copy =
      Duration::from_nanoseconds(costs.socket_copy_ns_per_byte * costs.segment.to_double());
  const Duration send = costs.system_call + copy + costs.segment_cost;
  const Duration receive = costs.segment_cost +
                           costs.driver_per_frame * costs.segment.pieces_of(costs.tcp_mss) + copy +
                           costs.wake_up + costs.system_call;
  // Under load one interrupt comes per coalescing period; the rest of the core is for the segments.
  CHECK(costs.interrupt < costs.interrupt_coalescing);
  const double left = 1 - static_cast<double>(costs.interrupt.ps()) /
                              static_cast<double>(costs.interrupt_coalescing.ps());
  return {send, receive.scaled(1 / left)};
}

double copy_engine_nvlink_efficiency(const PathCosts& costs, int generation) {
  return generation <= 3 ? costs.copy_engine_early_nvlink_efficiency
                         : costs.copy_engine_nvlink_efficiency;
}

double sm_nvlink_efficiency(const PathCosts& costs, int generation) {
  if (generation == 3) return costs.sm_nvlink3_efficiency;
  return generation >= 5 ? costs.sm_nvlink5_efficiency : costs.sm_nvlink_efficiency;
}

}  // namespace weft::fabric
