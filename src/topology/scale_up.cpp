// A scale-up domain alone: switch_class is the chip, host_link the link from GPU to chip; NICs stay
// uncabled. Combined with a scale-out network, use that network's row and Inputs::scale_up.
#include <fmt/format.h>

#include <array>

#include "topology/parameters.h"
#include "topology/ports.h"
#include "topology/scale_up_domain.h"

namespace weft::topology {

namespace {

class ScaleUpAlone : public Topology {
 public:
  std::string_view name() const override { return "scale_up"; }
  std::string_view summary() const override {
    return "Planes of switch chips that join the GPUs of several servers, as in NVL72.";
  }
  std::span<const Parameter> parameters() const override { return parameters_; }
  std::vector<std::string> refuse(const Inputs& inputs) const override;
  fabric::Fabric build(const Inputs& inputs) const override;
  ClosedForm closed_form(const Inputs& inputs) const override;

 private:
  ScaleUp scale_up(const Inputs& inputs) const;

  std::array<Parameter, 4> parameters_ = {
      Parameter{"servers_per_domain", "servers", 0, 0, 1e6,
                "servers that one domain joins; 0: all of them", true},
      Parameter{"chips", "chips", 18, 1, 1024, "switch chips of a domain", true},
      Parameter{"links_per_chip", "links", 1, 1, 64, "links from every GPU to every chip", true},
      radix_parameter(),
  };
};

ScaleUp ScaleUpAlone::scale_up(const Inputs& inputs) const {
  return {.servers_per_domain = *whole_value(inputs, parameters_, "servers_per_domain"),
          .chips = *whole_value(inputs, parameters_, "chips"),
          .links_per_chip = *whole_value(inputs, parameters_, "links_per_chip"),
          .chip_class = tier_class(inputs, 1),
          .link = inputs.host_link};
}

std::vector<std::string> ScaleUpAlone::refuse(const Inputs& inputs) const {
  std::vector<std::string> faults = check_parameters(inputs, parameters_);
  if (inputs.servers.empty()) faults.emplace_back("there are no servers to connect");
  if (inputs.scale_up) faults.emplace_back("scale_up cannot be combined with itself");
  if (!faults.empty()) return faults;
  return refuse_scale_up(inputs, scale_up(inputs));
}

fabric::Fabric ScaleUpAlone::build(const Inputs& inputs) const {
  fabric::FabricBuilder builder;
  Inputs with = inputs;
  with.scale_up = scale_up(inputs);
  stamp_servers(builder, with);
  return std::move(builder).build();
}

ClosedForm ScaleUpAlone::closed_form(const Inputs& inputs) const {
  const ScaleUp domain = scale_up(inputs);
  const HostPorts ports(inputs);
  const auto domains = scale_up_domains(inputs, domain);
  ClosedForm form;
  form.hosts = 0;
  for (std::size_t i = 0; i < ports.server_count(); ++i) {
    *form.hosts += static_cast<std::int64_t>(ports.shape(i).gpus.size());
  }
  form.switches = static_cast<std::int64_t>(domains.size()) * domain.chips;
  form.switch_links = 0;
  form.tiers = {{"chip", 1, *form.switches, 0, 0}};
  if (domains.size() > 1) return form;  // domains are not joined: no distance, no cut
  form.diameter_switches = 1;
  // GPU to GPU: through any chip, over the one bundle each way.
  form.shortest_paths = domain.chips;
  // Every GPU of the smaller half sends on all its bundles.
  form.bisection = static_cast<double>(*form.hosts / 2 * domain.chips * domain.links_per_chip);
  return form;
}

}  // namespace

const Topology& scale_up() {
  static const ScaleUpAlone kRow;
  return kRow;
}

}  // namespace weft::topology
