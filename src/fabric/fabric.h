// Fabric: every device and every directed link of a cluster, from GPU memory to spine switch, as
// one immutable graph in structure-of-arrays form. Inside a server and outside it is the same
// graph. A cable is two directed links, ids 2k and 2k+1. Attributes that many devices or links
// share live once in a class table; per directed link the graph stores its head, its class and its
// place in the adjacency list (12 bytes). Names lie in one string and are found by hash.
// Leaves out: what changes while a simulation runs (a link down, a queue) is the engine's state.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "fabric/classes.h"

namespace weft::fabric {

using DeviceId = Id<struct DeviceTag>;
using LinkId = Id<struct LinkTag>;
using ServerId = Id<struct ServerTag>;

constexpr LinkId reverse(LinkId link) {
  return LinkId(link.index() ^ 1u);
}

// Per-device facts that are not shared. `local_index` counts devices of one kind within a server
// (GPU 3 of its server) or within a tier (leaf 12). `tier` is 0 inside servers, 1 for leaf/ToR.
struct DeviceInfo {
  DeviceClassId device_class;
  ServerId server;  // invalid for network devices
  std::uint32_t local_index = 0;
  std::uint8_t tier = 0;
  std::int16_t numa = -1;     // NUMA node, -1 unknown
  bool acs_redirect = false;  // pcie_switch: P2P requests go up to the host bridge
};

// Switches that form a torus or mesh, for routing by dimension: ids [first, first + product of the
// sizes), the last dimension counting fastest.
struct Grid {
  DeviceId first;
  std::vector<std::uint32_t> size;  // by dimension
  bool wrap = true;                 // a ring in every dimension of three or more
};

class Fabric {
 public:
  [[nodiscard]] std::size_t device_count() const { return devices_.size(); }
  [[nodiscard]] std::size_t link_count() const { return link_to_.size(); }  // directed
  [[nodiscard]] std::size_t server_count() const { return servers_.size(); }

  [[nodiscard]] const DeviceInfo& info(DeviceId d) const { return devices_[d.index()]; }
  [[nodiscard]] const DeviceClass& device_class(DeviceId d) const {
    return device_classes_[info(d).device_class.index()];
  }
  [[nodiscard]] DeviceKind kind(DeviceId d) const { return device_class(d).kind; }
  [[nodiscard]] std::string_view name(DeviceId d) const;  // "node3/gpu0", "leaf12"; unique
  [[nodiscard]] std::optional<DeviceId> find(std::string_view name) const;

  [[nodiscard]] DeviceId from(LinkId l) const { return link_to_[l.index() ^ 1u]; }
  [[nodiscard]] DeviceId to(LinkId l) const { return link_to_[l.index()]; }
  [[nodiscard]] const LinkClass& link_class(LinkId l) const {
    return link_classes_[link_class_[l.index()].index()];
  }
  [[nodiscard]] LinkClassId link_class_id(LinkId l) const { return link_class_[l.index()]; }
  [[nodiscard]] std::string link_name(LinkId l) const;  // "node0/gpu0 -> node0/plx0"

  // Links that leave `d`, in the order they were added: position = port number.
  [[nodiscard]] std::span<const LinkId> out_links(DeviceId d) const;
  // The first link that leads from `a` straight to `b`.
  [[nodiscard]] std::optional<LinkId> find_link(DeviceId a, DeviceId b) const;

  // Devices of one server are contiguous: [first, last).
  struct DeviceRange {
    std::uint32_t first = 0, last = 0;
  };
  [[nodiscard]] DeviceRange devices_of(ServerId s) const { return servers_[s.index()]; }
  // All devices of a kind in id order (server by server, then by local index).
  [[nodiscard]] std::span<const DeviceId> of_kind(DeviceKind kind) const {
    return by_kind_[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] std::vector<DeviceId> of_kind(DeviceKind kind, ServerId server) const;

  [[nodiscard]] std::span<const DeviceClass> device_classes() const { return device_classes_; }
  [[nodiscard]] std::span<const LinkClass> link_classes() const { return link_classes_; }
  [[nodiscard]] const std::optional<Grid>& grid() const { return grid_; }
  // What an importer had to assume; shown to the user by every command that reads the source.
  [[nodiscard]] std::span<const std::string> assumptions() const { return assumptions_; }
  // Free facts by device for printing only (PCI bus id, affinity text, NIC legend name).
  [[nodiscard]] std::string_view label(DeviceId d, std::string_view key) const;  // "" when absent
  [[nodiscard]] std::size_t memory_bytes() const;                                // of every column

 private:
  friend class FabricBuilder;
  struct Label {
    DeviceId device;
    std::uint32_t key = 0, value = 0;  // index into label_texts_
  };
  [[nodiscard]] std::uint64_t slot_of(std::string_view name) const;

  std::vector<DeviceInfo> devices_;
  std::vector<DeviceId> link_to_;
  std::vector<LinkClassId> link_class_;
  std::vector<std::uint32_t> out_begin_;
  std::vector<LinkId> out_;
  std::vector<DeviceRange> servers_;
  std::vector<DeviceClass> device_classes_;
  std::vector<LinkClass> link_classes_;
  std::vector<std::vector<DeviceId>> by_kind_ =
      std::vector<std::vector<DeviceId>>(kDeviceKindCount);
  std::vector<std::uint32_t> name_begin_ = {0};
  std::string names_;
  std::vector<DeviceId> name_slots_;  // open addressing, linear probing, at most half full
  std::vector<Label> labels_;         // sorted by device
  std::vector<std::string> label_texts_;
  std::vector<std::string> assumptions_;
  std::optional<Grid> grid_;
};

}  // namespace weft::fabric
