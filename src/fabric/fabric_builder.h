// The only way to make a Fabric. Devices of one server must be added together, between
// begin_server() and end_server(); network devices outside. Checked: unique names, both ends
// exist, no self link, rate > 0, and at build() the radix of switches (a bundle of n NVLinks takes
// n ports). A broken call is a CHECK: readers validate what users wrote before they call this.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

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
  void set_label(DeviceId device, std::string key, std::string value);  // replaces
  void set_grid(Grid grid) { fabric_.grid_ = std::move(grid); }
  void assume(std::string assumption);  // kept once

  // Stamps every device and link of `server` (a Fabric holding exactly one server) as a new server;
  // names get `prefix` + "/" in front. Returns the id of its first device: template device k
  // becomes first + k. Labels are copied when `with_labels`.
  DeviceId append_server(const Fabric& server, std::string_view prefix, bool with_labels = false);

  [[nodiscard]] std::size_t device_count() const { return fabric_.devices_.size(); }
  [[nodiscard]] std::optional<DeviceId> find(std::string_view name) const;

  [[nodiscard]] Fabric build() &&;

 private:
  void insert_name(DeviceId device);
  void grow_name_slots(std::size_t names);
  void place(DeviceId device, const DeviceInfo& info);
  void append_links(const Fabric& server, DeviceId first);
  void append_labels(const Fabric& server, DeviceId first);
  std::uint32_t label_text(std::string_view text);
  void sort_labels();
  void fill_adjacency();
  void check_radix() const;

  Fabric fabric_;
  bool in_server_ = false;
  // Local indices: within the server being built by kind, outside servers by tier and kind.
  std::array<std::uint32_t, kDeviceKindCount> server_counter_{};
  std::map<std::pair<std::uint8_t, DeviceKind>, std::uint32_t> tier_counter_;
  std::map<DeviceClass, DeviceClassId> device_class_ids_;
  std::map<LinkClass, LinkClassId> link_class_ids_;
  std::map<std::string, std::uint32_t, std::less<>> label_text_ids_;
};

}  // namespace weft::fabric
