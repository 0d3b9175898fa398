// Frames on chosen links as a capture file (pcap with nanoseconds, Ethernet). An observer of the
// packet engine. A frame is stamped when its first bit leaves; a pause when it leaves the end that
// asks for it. Flows are RDMA writes of at most 1 GiB, a queue pair each. What a model does not
// carry is filled in: addresses by number, payload of zeros. Page: docs/packet-observation.md.
#pragma once

#include <functional>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "report/link_choice.h"
#include "report/roce_frames.h"
#include "result/result.h"

namespace weft::report {

class Pcap final : public result::Probe {
 public:
  using Sink = std::function<void(std::string_view)>;  // takes the file's bytes in order
  // At most `snap` bytes of a frame are written. `marks`: data can carry marks (ECN).
  Pcap(const fabric::Fabric& fabric, LinkChoice links, std::uint32_t snap, bool marks, Sink sink);

  bool watches(fabric::LinkId link) override { return links_.has(link); }
  void flow_opened(const result::PacketFlow& flow, Instant when) override;
  void packet_joined(const result::SeenPacket& packet, Instant when, Bytes queue,
                     bool marked) override;
  void packet_sent(const result::SeenPacket& packet, Instant first, Instant last) override;
  void pause_sent(fabric::LinkId link, Instant when, bool stop) override;

  void finish();  // writes what is still held back
  [[nodiscard]] std::uint64_t frames() const { return frames_; }

 private:
  // Frames are known before they leave, so they wait here for their turn.
  struct Held {
    Instant when;
    std::uint64_t order = 0;  // of two at one instant, the one known first
    result::SeenPacket packet;
    bool is_pause = false, stop = false;
    friend bool operator>(const Held& a, const Held& b) {
      return a.when != b.when ? a.when > b.when : a.order > b.order;
    }
  };

  void hold(Instant when, const result::SeenPacket& packet, bool is_pause, bool stop);
  void write_until(Instant now);
  void write(const Held& held);
  [[nodiscard]] std::string frame_of(const result::SeenPacket& packet) const;

  const fabric::Fabric* fabric_;
  LinkChoice links_;
  std::uint32_t snap_;
  bool marks_;
  Sink sink_;
  std::vector<result::PacketFlow> flows_;  // by number
  std::priority_queue<Held, std::vector<Held>, std::greater<>> held_;
  std::uint64_t order_ = 0, frames_ = 0;
};

}  // namespace weft::report
