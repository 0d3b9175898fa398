// Setup in, Result out. Setup is plain data (fabric, routes, work, protocol stack, constants,
// options) and is echoed into the result so that a result can be run again from itself.
// All engines share it: analytic (formulas), flow (max-min rates, events at rate changes), packet
// (every packet).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collective/collective.h"
#include "engine/packet_options.h"
#include "fabric/data_path.h"
#include "result/result.h"
#include "routing/routes.h"
#include "work/work.h"

namespace weft::engine {

struct Options {
  std::uint64_t seed = 1;
  bool record_flows = true;
  int queue_pairs = 1;  // per connection: each its own ECMP entropy
  fabric::Via via = fabric::Via::automatic;
};

// From `when` on the link carries `factor` (0 to 1) of its rate; 0: it is down. Routes stay: what
// would cross a link that is down waits until it is up.
struct LinkChange {
  Instant when;
  fabric::LinkId link;
  double factor = 1;
};

struct Setup {
  const fabric::Fabric* fabric = nullptr;
  const routing::Routes* routes = nullptr;
  work::Work work;
  fabric::PathCosts costs;  // network part filled from the protocol stack
  collective::Constants constants;
  Options options;
  PacketOptions packet;                  // for the packet engine
  std::vector<LinkChange> link_changes;  // for the flow engine; the others refuse them
};

class Engine {
 public:
  virtual ~Engine() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  // Whether it heeds Setup::link_changes; if not, it refuses a setup that has any.
  [[nodiscard]] virtual bool changes_links() const { return false; }
  // REQUIRES work::validate(setup.work) to be empty. `probe` may be null.
  [[nodiscard]] virtual result::Result run(const Setup& setup, result::Probe* probe) const = 0;
};

// For engines whose links keep their rates: throws InputError when the setup has link changes.
void refuse_link_changes(const Setup& setup, std::string_view engine);

}  // namespace weft::engine
