// The devices, instances and edges of an InfraGraph file, checked and written out: slices expanded,
// schemes applied, names resolved. Both forms are read: edges of endpoints with slices
// (InfraGraph 1.x and 2.x), and the older connections of dotted names. Source: InfraGraph's schema
// (Keysight, MIT). Leaves out: annotations, scheme `ring`, devices nested without composition.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "base/units.h"

namespace weft::import {

struct InfraLink {
  std::string name, description;
  BitRate rate;              // 0: not given
  double gigatransfers = 0;  // of a lane; 0: not given
  std::optional<Duration> latency;
  SourcePosition where;
};

enum class InfraKind { cpu, xpu, nic, port, switch_chip, memory, custom, device };

struct InfraComponent {
  std::string name, description;
  std::string type;  // of custom
  InfraKind kind = InfraKind::custom;
  std::size_t first = 0, count = 1;  // its nodes within the device
  SourcePosition where;
};

struct InfraDevice {
  // Between nodes of the device; `link` indexes links.
  struct Edge {
    std::size_t a = 0, b = 0, link = 0;
  };
  std::string name, description;
  std::vector<InfraComponent> components;
  std::vector<InfraLink> links;
  std::vector<Edge> edges;
  std::size_t nodes = 0;
  SourcePosition where;

  [[nodiscard]] const InfraComponent& component_of(std::size_t node) const;
};

struct InfraInstance {
  std::string name;
  std::size_t device = 0, count = 1;
  SourcePosition where;
};

struct InfraGraph {
  struct End {
    std::size_t instance = 0, copy = 0, node = 0;
    friend auto operator<=>(const End&, const End&) = default;
  };
  struct Edge {
    End a, b;
    std::size_t link = 0;
    SourcePosition where;
  };
  std::vector<InfraDevice> devices;
  std::vector<InfraInstance> instances;
  std::vector<InfraLink> links;
  std::vector<Edge> edges;

  [[nodiscard]] const InfraDevice& device_of(const End& end) const {
    return devices[instances[end.instance].device];
  }
};

// Throws InputError with every fault.
InfraGraph read_infragraph(std::string_view text, const std::string& file);

}  // namespace weft::import
