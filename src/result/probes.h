// Several observers as one: every event goes to each of them, in the order in which they were
// added. The packet engine then watches every link that one of them asked for, so an observer must
// pass over links that it did not ask for itself.
#pragma once

#include <vector>

#include "result/result.h"

namespace weft::result {

class Probes final : public Probe {
 public:
  void add(Probe* probe) { probes_.push_back(probe); }
  [[nodiscard]] bool empty() const { return probes_.empty(); }

  void op_started(work::OpId op, Instant when) override {
    for (Probe* probe : probes_) probe->op_started(op, when);
  }
  void op_ended(work::OpId op, Instant when) override {
    for (Probe* probe : probes_) probe->op_ended(op, when);
  }
  void flow_rate(std::uint32_t flow, Instant when, BitRate rate) override {
    for (Probe* probe : probes_) probe->flow_rate(flow, when, rate);
  }
  void progress(double done, Instant when) override {
    for (Probe* probe : probes_) probe->progress(done, when);
  }
  bool watches(fabric::LinkId link) override {
    bool any = false;
    for (Probe* probe : probes_) any |= probe->watches(link);
    return any;
  }
  void flow_opened(const PacketFlow& flow, Instant when) override {
    for (Probe* probe : probes_) probe->flow_opened(flow, when);
  }
  void packet_joined(const SeenPacket& packet, Instant when, Bytes queue, bool marked) override {
    for (Probe* probe : probes_) probe->packet_joined(packet, when, queue, marked);
  }
  void packet_dropped(const SeenPacket& packet, Instant when) override {
    for (Probe* probe : probes_) probe->packet_dropped(packet, when);
  }
  void packet_sent(const SeenPacket& packet, Instant first, Instant last) override {
    for (Probe* probe : probes_) probe->packet_sent(packet, first, last);
  }
  void pause_sent(fabric::LinkId link, Instant when, bool stop) override {
    for (Probe* probe : probes_) probe->pause_sent(link, when, stop);
  }
  void link_held(fabric::LinkId link, Instant when, Hold why, bool stop) override {
    for (Probe* probe : probes_) probe->link_held(link, when, why, stop);
  }

 private:
  std::vector<Probe*> probes_;
};

}  // namespace weft::result
