// Priority flow control (IEEE 802.1Qbb) as arithmetic: how long a pause lasts, how much a port must
// be able to take after it said stop, and the dynamic threshold at which it says so. The engine's
// part (who is paused when) is engine/packet. Model: docs/models/pfc.md.
#pragma once

#include "base/units.h"

namespace weft::flow_control {

inline constexpr Bytes kPauseFrame{84};  // 64 B, preamble and gap: on the wire

// A pause of `quanta` units of 512 bit times; the longest that a frame can ask for is 65535.
Duration pause_time(std::int64_t quanta, BitRate rate);
inline constexpr std::int64_t kLongestPause = 65'535;

// How long a receiver of a pause may take to heed it: quanta by rate, IEEE 802.3 Annex 31B as
// listed in SONiC's buffer templates (peer response time). Rates between take the next higher's.
std::int64_t response_quanta(BitRate rate);

// Bytes that can still arrive after the decision to pause: what is under way both ways, what the
// sender may do before it heeds, a frame in front of the pause, a frame already begun, the pause
// itself.
Bytes headroom(BitRate rate, Duration propagation, Bytes mtu);

// The rule by which SONiC sizes a lossless priority group's Xoff for NVIDIA Spectrum-3 switches
// from speed and cable length (docs/models/pfc.md gives the terms); rounded up to 1 KiB.
Bytes spectrum_xoff(BitRate rate, double cable_m);

// Dynamic threshold (Choudhury and Hahne, IEEE/ACM ToN 6(2), 1998): a queue may hold `alpha` times
// what is free of the shared buffer.
double dynamic_threshold(double alpha, double shared_bytes, double used_bytes);

}  // namespace weft::flow_control
