#include "fabric/fabric.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace weft::fabric {

namespace {

// FNV-1a, 64 bit (Fowler, Noll, Vo), folded once so that the low bits depend on every byte.
std::uint64_t hash_name(std::string_view name) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h ^ (h >> 32);
}

template <class T>
std::size_t bytes_of(const std::vector<T>& column) {
  return column.capacity() * sizeof(T);
}

}  // namespace

std::string_view Fabric::name(DeviceId d) const {
  const std::uint32_t begin = name_begin_[d.index()];
  return std::string_view(names_).substr(begin, name_begin_[d.index() + 1] - begin);
}

// The slot that holds `name`, or the empty one where it belongs.
std::uint64_t Fabric::slot_of(std::string_view name_wanted) const {
  CHECK(std::has_single_bit(name_slots_.size()));
  const std::uint64_t mask = name_slots_.size() - 1;
  std::uint64_t slot = hash_name(name_wanted) & mask;
  while (name_slots_[slot].valid() && name(name_slots_[slot]) != name_wanted) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

std::optional<DeviceId> Fabric::find(std::string_view name_wanted) const {
  if (name_slots_.empty()) return std::nullopt;
  const DeviceId found = name_slots_[slot_of(name_wanted)];
  if (!found.valid()) return std::nullopt;
  return found;
}

std::string Fabric::link_name(LinkId l) const {
  std::string text(name(from(l)));
  text += " -> ";
  text += name(to(l));
  return text;
}

std::span<const LinkId> Fabric::out_links(DeviceId d) const {
  const std::uint32_t begin = out_begin_[d.index()];
  return std::span(out_).subspan(begin, out_begin_[d.index() + 1] - begin);
}

std::optional<LinkId> Fabric::find_link(DeviceId a, DeviceId b) const {
  for (const LinkId link : out_links(a)) {
    if (to(link) == b) return link;
  }
  return std::nullopt;
}

std::vector<DeviceId> Fabric::of_kind(DeviceKind wanted, ServerId server) const {
  std::vector<DeviceId> found;
  const DeviceRange range = devices_of(server);
  for (std::uint32_t i = range.first; i < range.last; ++i) {
    if (kind(DeviceId(i)) == wanted) found.emplace_back(i);
  }
  return found;
}

std::string_view Fabric::label(DeviceId d, std::string_view key) const {
  auto at = std::lower_bound(labels_.begin(), labels_.end(), d,
                             [](const Label& label, DeviceId id) { return label.device < id; });
  for (; at != labels_.end() && at->device == d; ++at) {
    if (label_texts_[at->key] == key) return label_texts_[at->value];
  }
  return {};
}

std::size_t Fabric::memory_bytes() const {
  std::size_t total = bytes_of(devices_) + bytes_of(link_to_) + bytes_of(link_class_) +
                      bytes_of(out_begin_) + bytes_of(out_) + bytes_of(servers_) +
                      bytes_of(device_classes_) + bytes_of(link_classes_) + bytes_of(name_begin_) +
                      names_.capacity() + bytes_of(name_slots_) + bytes_of(labels_);
  for (const auto& column : by_kind_) total += bytes_of(column);
  for (const auto& text : label_texts_) total += text.capacity() + sizeof(text);
  for (const auto& text : assumptions_) total += text.capacity() + sizeof(text);
  return total;
}

}  // namespace weft::fabric
