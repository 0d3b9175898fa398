// The only way to make a Fabric. Devices of one server must be added together, between
// begin_server() and end_server(); network devices outside. build() checks: unique names, both ends
// exist, no self link, rate > 0, radix respected. A broken call is a CHECK: readers validate what
// users wrote before they call this.
#pragma once

#include <string>
#include <string_view>

#include "fabric/fabric.h"

namespace weft::fabric {

struct LinkEnds {
  DeviceId a, b;
};

class FabricBuilder {
 public:
  // Equal classes are stored once.
  DeviceClassId device_class(const DeviceClass& device_class);
  LinkClassId link_class(const LinkClass& link_class);

  ServerId begin_server();
  void end_server();

  struct DeviceSpec {
    std::string name;
    std::uint8_t tier = 0;
    std::int16_t numa = -1;
    bool acs_redirect = false;
  };
  DeviceId add_device(DeviceClassId device_class, DeviceSpec spec);
  // A cable: both directions. Returns the a-to-b direction.
  LinkId add_link(LinkEnds ends, LinkClassId link_class);
  void set_label(DeviceId device, std::string key, std::string value);
  void assume(std::string assumption);

  // Stamps every device and link of `server` (a Fabric holding exactly one server) as a new server;
  // names get `prefix` + "/" in front. Returns the id of its first device: template device k
  // becomes first + k. Labels are copied when `with_labels`.
  DeviceId append_server(const Fabric& server, std::string_view prefix, bool with_labels = false);

  [[nodiscard]] std::size_t device_count() const { return fabric_.devices_.size(); }
  [[nodiscard]] std::optional<DeviceId> find(std::string_view name) const;  // linear: for readers

  [[nodiscard]] Fabric build() &&;

 private:
  Fabric fabric_;
  bool in_server_ = false;
  std::vector<std::uint32_t> kind_counter_;
};

}  // namespace weft::fabric
