// Draws small networks for the tests of this folder: switches, NICs and cables by hand.
#pragma once

#include <string>
#include <vector>

#include "fabric/fabric_builder.h"

namespace weft::routing::test {

class Drawing {
 public:
  Drawing() {
    fabric::DeviceClass a_switch;
    a_switch.kind = fabric::DeviceKind::network_switch;
    a_switch.model = "switch";
    switch_class_ = builder_.device_class(a_switch);
    fabric::DeviceClass a_nic;
    a_nic.kind = fabric::DeviceKind::nic;
    a_nic.model = "nic";
    nic_class_ = builder_.device_class(a_nic);
    fabric::LinkClass cable;
    cable.kind = fabric::LinkKind::ethernet;
    cable.raw_rate = BitRate::gigabits_per_second(400);
    cable_ = builder_.link_class(cable);
    cable.raw_rate = BitRate::gigabits_per_second(800);
    fast_cable_ = builder_.link_class(cable);
  }

  std::vector<fabric::DeviceId> add_switches(int count) {
    std::vector<fabric::DeviceId> added;
    for (int i = 0; i < count; ++i) {
      added.push_back(builder_.add_device(switch_class_, {.name = next_name("switch")}));
    }
    return added;
  }

  // A server of one NIC, cabled to each of `switches` in turn.
  fabric::DeviceId add_nic(const std::vector<fabric::DeviceId>& switches) {
    builder_.begin_server();
    const fabric::DeviceId nic = builder_.add_device(nic_class_, {.name = next_name("nic")});
    builder_.end_server();
    for (const fabric::DeviceId s : switches) cable(nic, s);
    return nic;
  }

  fabric::LinkId cable(fabric::DeviceId a, fabric::DeviceId b) {
    return builder_.add_link({a, b}, cable_);
  }

  fabric::LinkId fast_cable(fabric::DeviceId a, fabric::DeviceId b) {
    return builder_.add_link({a, b}, fast_cable_);
  }

  // rows x columns switches in a torus or mesh, a NIC on each; rows count as the first dimension.
  void grid(std::size_t rows, std::size_t columns, bool wrap) {
    const auto s = add_switches(static_cast<int>(rows * columns));
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        if (r + 1 < rows || (wrap && rows > 2))
          cable(s[r * columns + c], s[(r + 1) % rows * columns + c]);
        if (c + 1 < columns || (wrap && columns > 2))
          cable(s[r * columns + c], s[r * columns + (c + 1) % columns]);
      }
    }
    builder_.set_grid(
        {s.front(), {static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(columns)}, wrap});
    for (const fabric::DeviceId at : s) add_nic({at});
  }

  fabric::Fabric done() { return std::move(builder_).build(); }

 private:
  std::string next_name(const char* kind) { return kind + std::to_string(builder_.device_count()); }

  fabric::FabricBuilder builder_;
  fabric::DeviceClassId switch_class_, nic_class_;
  fabric::LinkClassId cable_, fast_cable_;
};

}  // namespace weft::routing::test
