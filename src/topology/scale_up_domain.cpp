#include "topology/scale_up_domain.h"

#include <fmt/format.h>

#include <algorithm>

#include "topology/ports.h"

namespace weft::topology {

namespace {

std::int64_t gpus_of(const HostPorts& ports, DomainRange domain) {
  std::int64_t gpus = 0;
  for (std::size_t i = domain.first; i < domain.last; ++i) {
    gpus += static_cast<std::int64_t>(ports.shape(i).gpus.size());
  }
  return gpus;
}

fabric::LinkClass bundled(const ScaleUp& scale_up) {
  fabric::LinkClass link = scale_up.link;
  if (scale_up.links_per_chip == 1) return link;
  link.width *= static_cast<int>(scale_up.links_per_chip);
  link.raw_rate = link.raw_rate * scale_up.links_per_chip;
  link.name = fmt::format("{} x{}", link.name, scale_up.links_per_chip);
  return link;
}

}  // namespace

std::vector<DomainRange> scale_up_domains(const Inputs& inputs, const ScaleUp& scale_up) {
  const std::size_t servers = inputs.servers.size();
  const std::size_t step = scale_up.servers_per_domain == 0
                               ? std::max<std::size_t>(servers, 1)
                               : static_cast<std::size_t>(scale_up.servers_per_domain);
  std::vector<DomainRange> domains;
  for (std::size_t first = 0; first < servers; first += step) {
    domains.push_back({first, std::min(first + step, servers)});
  }
  return domains;
}

std::vector<std::string> refuse_scale_up(const Inputs& inputs, const ScaleUp& scale_up) {
  std::vector<std::string> faults;
  if (scale_up.chips < 1 || scale_up.links_per_chip < 1 || scale_up.servers_per_domain < 0) {
    faults.emplace_back("a scale-up domain needs at least one chip and one link per chip");
    return faults;
  }
  if (scale_up.chip_class.kind != fabric::DeviceKind::nvswitch) {
    faults.push_back(fmt::format("'{}' is not an nvswitch", scale_up.chip_class.model));
  }
  if (scale_up.link.raw_rate.bps() <= 0) faults.emplace_back("the scale-up link has no rate");
  const HostPorts ports(inputs);
  for (const DomainRange domain : scale_up_domains(inputs, scale_up)) {
    const std::int64_t gpus = gpus_of(ports, domain);
    const std::int64_t needed = gpus * scale_up.links_per_chip * scale_up.link.width;
    if (gpus == 0) {
      faults.push_back(fmt::format("servers {} to {} have no GPU to join into a scale-up domain",
                                   domain.first, domain.last - 1));
      break;
    }
    if (scale_up.chip_class.radix != 0 && needed > scale_up.chip_class.radix) {
      faults.push_back(fmt::format(
          "a domain of {} servers has {} GPUs x {} links = {} ports on each chip, '{}' has {}",
          domain.last - domain.first, gpus, scale_up.links_per_chip * scale_up.link.width, needed,
          scale_up.chip_class.model, scale_up.chip_class.radix));
      break;
    }
  }
  return faults;
}

void add_scale_up(fabric::FabricBuilder& builder, const Inputs& inputs, const ScaleUp& scale_up,
                  const std::vector<fabric::DeviceId>& first_device) {
  const HostPorts ports(inputs);
  const fabric::DeviceClassId chip_class = builder.device_class(scale_up.chip_class);
  const fabric::LinkClassId link_class = builder.link_class(bundled(scale_up));
  const std::vector<DomainRange> domains = scale_up_domains(inputs, scale_up);
  for (std::size_t d = 0; d < domains.size(); ++d) {
    std::vector<fabric::DeviceId> chips;
    for (std::int64_t c = 0; c < scale_up.chips; ++c) {
      chips.push_back(builder.add_device(
          chip_class, {.name = fmt::format("nvl{}/nvswitch{}", d, c), .tier = 1}));
    }
    for (std::size_t server = domains[d].first; server < domains[d].last; ++server) {
      for (const fabric::DeviceId gpu : ports.shape(server).gpus) {
        const fabric::DeviceId stamped(first_device[server].index() + gpu.index());
        for (const fabric::DeviceId chip : chips) builder.add_link({stamped, chip}, link_class);
      }
    }
  }
}

}  // namespace weft::topology
