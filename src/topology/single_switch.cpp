// One switch that every NIC port is cabled to: the reference without a network to speak of.
#include <fmt/format.h>

#include <array>

#include "topology/clos.h"
#include "topology/parameters.h"

namespace weft::topology {

namespace {

class SingleSwitch : public ClosTopology {
 public:
  std::string_view name() const override { return "single_switch"; }
  std::string_view summary() const override { return "Every NIC port on one switch."; }
  std::span<const Parameter> parameters() const override { return parameters_; }

 protected:
  ClosAnswer plan(const Inputs& inputs, const HostPorts& ports) const override {
    ClosAnswer answer;
    const fabric::DeviceClass chosen = tier_class(inputs, 1);
    if (chosen.radix != 0 && ports.count() > chosen.radix) {
      answer.refusals.push_back(fmt::format("{} NIC ports need {} switch ports, '{}' has {}",
                                            ports.count(), ports.count(), chosen.model,
                                            chosen.radix));
    }
    answer.plan.tiers.push_back({.blocks = 1, .children = ports.count()});
    answer.plan.leaf_of_port = fill_leaves(ports.count(), ports.count());
    return answer;
  }

 private:
  std::array<Parameter, 1> parameters_ = {radix_parameter()};
};

}  // namespace

const Topology& single_switch() {
  static const SingleSwitch kRow;
  return kRow;
}

}  // namespace weft::topology
