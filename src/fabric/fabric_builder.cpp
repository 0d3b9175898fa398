#include "fabric/fabric_builder.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/check.h"

namespace weft::fabric {

DeviceClassId FabricBuilder::device_class(const DeviceClass& device_class) {
  const auto [at, is_new] =
      device_class_ids_.try_emplace(device_class, DeviceClassId(fabric_.device_classes_.size()));
  if (is_new) fabric_.device_classes_.push_back(device_class);
  return at->second;
}

LinkClassId FabricBuilder::link_class(const LinkClass& link_class) {
  CHECK(link_class.raw_rate.bps() > 0);
  const auto [at, is_new] =
      link_class_ids_.try_emplace(link_class, LinkClassId(fabric_.link_classes_.size()));
  if (is_new) fabric_.link_classes_.push_back(link_class);
  return at->second;
}

ServerId FabricBuilder::begin_server() {
  CHECK(!in_server_);
  in_server_ = true;
  server_counter_.fill(0);
  const ServerId server(fabric_.servers_.size());
  const auto first = static_cast<std::uint32_t>(device_count());
  fabric_.servers_.push_back({first, first});
  return server;
}

void FabricBuilder::end_server() {
  CHECK(in_server_);
  in_server_ = false;
  fabric_.servers_.back().last = static_cast<std::uint32_t>(device_count());
}

void FabricBuilder::grow_name_slots(std::size_t names) {
  if (fabric_.name_slots_.size() >= 2 * names) return;
  fabric_.name_slots_.assign(std::bit_ceil(4 * names), DeviceId());
  for (std::size_t i = 0; i < device_count(); ++i) {
    const DeviceId device(i);
    fabric_.name_slots_[fabric_.slot_of(fabric_.name(device))] = device;
  }
}

// REQUIRES the name to be at the end of names_ already, and room for it in name_begin_.
void FabricBuilder::insert_name(DeviceId device) {
  CHECK(fabric_.names_.size() < UINT32_MAX);
  fabric_.name_begin_.push_back(static_cast<std::uint32_t>(fabric_.names_.size()));
  const std::uint64_t slot = fabric_.slot_of(fabric_.name(device));
  CHECK(!fabric_.name_slots_[slot].valid());  // names are unique
  fabric_.name_slots_[slot] = device;
}

void FabricBuilder::place(DeviceId device, const DeviceInfo& info) {
  fabric_.devices_.push_back(info);
  const DeviceKind kind = fabric_.device_classes_[info.device_class.index()].kind;
  fabric_.by_kind_[static_cast<std::size_t>(kind)].push_back(device);
}

DeviceId FabricBuilder::add_device(DeviceClassId device_class, DeviceSpec spec) {
  CHECK(device_class.index() < fabric_.device_classes_.size());
  CHECK(!spec.name.empty());
  const DeviceKind kind = fabric_.device_classes_[device_class.index()].kind;
  DeviceInfo info;
  info.device_class = device_class;
  info.tier = spec.tier;
  info.numa = spec.numa;
  info.acs_redirect = spec.acs_redirect;
  if (in_server_) {
    info.server = ServerId(fabric_.servers_.size() - 1);
    info.local_index = server_counter_[static_cast<std::size_t>(kind)]++;
  } else {
    info.local_index = tier_counter_[{spec.tier, kind}]++;
  }
  const DeviceId device(device_count());
  grow_name_slots(device_count() + 1);
  fabric_.names_ += spec.name;
  insert_name(device);
  place(device, info);
  return device;
}

LinkId FabricBuilder::add_link(LinkEnds ends, LinkClassId link_class) {
  CHECK(ends.a.index() < device_count() && ends.b.index() < device_count());
  CHECK(ends.a != ends.b);
  CHECK(link_class.index() < fabric_.link_classes_.size());
  const LinkId link(fabric_.link_to_.size());
  fabric_.link_to_.push_back(ends.b);
  fabric_.link_to_.push_back(ends.a);
  fabric_.link_class_.insert(fabric_.link_class_.end(), 2, link_class);
  return link;
}

std::uint32_t FabricBuilder::label_text(std::string_view text) {
  const auto found = label_text_ids_.find(text);
  if (found != label_text_ids_.end()) return found->second;
  const auto id = static_cast<std::uint32_t>(fabric_.label_texts_.size());
  fabric_.label_texts_.emplace_back(text);
  label_text_ids_.emplace(text, id);
  return id;
}

void FabricBuilder::set_label(DeviceId device, std::string key, std::string value) {
  CHECK(device.index() < device_count());
  fabric_.labels_.push_back({device, label_text(key), label_text(value)});
}

void FabricBuilder::assume(std::string assumption) {
  auto& known = fabric_.assumptions_;
  if (std::find(known.begin(), known.end(), assumption) == known.end()) {
    known.push_back(std::move(assumption));
  }
}

DeviceId FabricBuilder::append_server(const Fabric& server, std::string_view prefix,
                                      bool with_labels) {
  CHECK(server.server_count() == 1);
  CHECK(server.devices_of(ServerId(0)).last - server.devices_of(ServerId(0)).first ==
        server.device_count());
  std::vector<DeviceClassId> classes;
  classes.reserve(server.device_classes_.size());
  for (const DeviceClass& c : server.device_classes_) classes.push_back(device_class(c));

  const ServerId id = begin_server();
  const DeviceId first(device_count());
  grow_name_slots(device_count() + server.device_count());
  for (std::size_t k = 0; k < server.device_count(); ++k) {
    DeviceInfo info = server.devices_[k];
    info.device_class = classes[info.device_class.index()];
    info.server = id;
    fabric_.names_ += prefix;
    fabric_.names_ += '/';
    fabric_.names_ += server.name(DeviceId(k));
    const DeviceId device(first.index() + k);
    insert_name(device);
    place(device, info);
  }
  end_server();
  append_links(server, first);
  if (with_labels) append_labels(server, first);
  for (const std::string& assumption : server.assumptions_) assume(assumption);
  return first;
}

void FabricBuilder::append_links(const Fabric& server, DeviceId first) {
  std::vector<LinkClassId> classes;
  classes.reserve(server.link_classes_.size());
  for (const LinkClass& c : server.link_classes_) classes.push_back(link_class(c));
  for (std::size_t l = 0; l < server.link_to_.size(); ++l) {
    fabric_.link_to_.emplace_back(first.index() + server.link_to_[l].index());
    fabric_.link_class_.push_back(classes[server.link_class_[l].index()]);
  }
}

void FabricBuilder::append_labels(const Fabric& server, DeviceId first) {
  for (const Fabric::Label& label : server.labels_) {
    fabric_.labels_.push_back({DeviceId(first.index() + label.device.index()),
                               label_text(server.label_texts_[label.key]),
                               label_text(server.label_texts_[label.value])});
  }
}

std::optional<DeviceId> FabricBuilder::find(std::string_view name) const {
  return fabric_.find(name);
}

// Counting sort of the directed links by the device they leave; ids ascend within one device.
void FabricBuilder::fill_adjacency() {
  Fabric& f = fabric_;
  f.out_begin_.assign(f.device_count() + 1, 0);
  for (std::size_t l = 0; l < f.link_count(); ++l) ++f.out_begin_[f.from(LinkId(l)).index() + 1];
  for (std::size_t d = 0; d < f.device_count(); ++d) f.out_begin_[d + 1] += f.out_begin_[d];
  std::vector<std::uint32_t> next(f.out_begin_.begin(), f.out_begin_.end() - 1);
  f.out_.resize(f.link_count());
  for (std::size_t l = 0; l < f.link_count(); ++l) {
    f.out_[next[f.from(LinkId(l)).index()]++] = LinkId(l);
  }
}

void FabricBuilder::check_radix() const {
  for (std::size_t d = 0; d < fabric_.device_count(); ++d) {
    const int radix = fabric_.device_class(DeviceId(d)).radix;
    if (radix == 0) continue;
    int ports = 0;
    for (const LinkId l : fabric_.out_links(DeviceId(d))) {
      const LinkClass& c = fabric_.link_class(l);
      ports += c.kind == LinkKind::nvlink ? c.width : 1;
    }
    CHECK(ports <= radix);
  }
}

// By device; within one device the last one set first, so that it wins.
void FabricBuilder::sort_labels() {
  const std::vector<Fabric::Label>& labels = fabric_.labels_;
  std::vector<std::uint32_t> order(labels.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (labels[a].device != labels[b].device) return labels[a].device < labels[b].device;
    return a > b;
  });
  std::vector<Fabric::Label> sorted;
  sorted.reserve(labels.size());
  for (const std::uint32_t i : order) sorted.push_back(labels[i]);
  fabric_.labels_ = std::move(sorted);
}

Fabric FabricBuilder::build() && {
  CHECK(!in_server_);
  fill_adjacency();
  check_radix();
  sort_labels();
  return std::move(fabric_);
}

}  // namespace weft::fabric
