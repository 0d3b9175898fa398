// Links that can be paused, and the buffers behind them. A gate is the transmitter of such a link:
// its packets wait in a queue of their own and leave one by one, so that a pause finds them there;
// that costs a second event a packet and hop. An ingress counts the bytes that came in by its link
// and are still in the switch; or, with credits, its sender counts them. Leaves out: several
// priorities, and the pause frames' own share of the link. Model: docs/models/pfc.md,
// docs/models/switch.md.
#pragma once

#include <cstdint>
#include <deque>

#include "engine/packet/packet.h"

namespace weft::engine::packet {

struct Gate {
  std::uint32_t head = kNone, tail = kNone;  // packets that wait
  std::int64_t queued = 0;                   // bytes of them
  std::uint32_t sending = kNone;             // size of the packet being sent; kNone: idle
  std::uint32_t sending_from = kNone;        // link by which it had come
  bool paused = false;
  bool short_of_credit = false;  // the packet at the head waits for some
  bool nic_waits = false;        // ready flows are to be pulled when the queue has drained
  // States on their way here, oldest in the lowest bit, and when the last of them arrives.
  std::uint64_t announced = 0;
  std::uint32_t announcements = 0;
  Time last_announcement = 0;
  Time paused_since = 0, paused_for = 0;
  std::uint64_t pauses = 0;
};

struct Ingress {
  std::int64_t used = 0;          // bytes in the switch that came by this link
  std::int64_t stop_at = 0;       // what was allowed when it paused its sender
  std::int64_t headroom = 0;      // and what may come after that
  Time notice = 0;                // from decision to effect, the frame in the way apart
  std::uint32_t buffer = kNone;   // of the switch it leads to; kNone: not a switch
  std::uint32_t reverse = kNone;  // link back to the sender, as far as it is in use
  bool pausing = false;
};

// Credits of a link: its sender may have `capacity` bytes, in blocks, that the far end has not
// freed.
struct Credits {
  struct Return {
    Time when;
    std::int64_t bytes;
  };
  std::deque<Return> returning;  // freed, and on the way back
  std::int64_t outstanding = 0, capacity = 0;
  bool wake_set = false;  // the gate looks again when the next return arrives
  bool starved = false;   // it waits, and nothing is on the way back
};

struct Buffer {
  std::int64_t shared = 0, used = 0;  // bytes
};

}  // namespace weft::engine::packet
