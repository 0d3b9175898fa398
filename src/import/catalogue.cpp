#include "import/catalogue.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "import/catalogue_reader.h"

namespace weft::import {

using fabric::DeviceKind;
using fabric::LinkKind;

Catalogue::Catalogue(const std::vector<CatalogueText>& files) {
  CatalogueReader(*this).read(files);
}

const CataloguePart* Catalogue::part(std::string_view model) const {
  const auto at = part_index_.find(model);
  return at == part_index_.end() ? nullptr : &parts_[at->second];
}

const PartRecord* Catalogue::record(std::string_view name) const {
  const auto at = record_index_.find(name);
  return at == record_index_.end() ? nullptr : &records_[at->second];
}

std::vector<const PartRecord*> Catalogue::records_of(std::string_view section) const {
  std::vector<const PartRecord*> out;
  for (const PartRecord& record : records_) {
    if (record.kind->section == section) out.push_back(&record);
  }
  return out;
}

std::vector<std::string> Catalogue::record_names() const {
  std::vector<std::string> out;
  for (const PartRecord& record : records_) out.push_back(record.name);
  return out;
}

std::optional<fabric::DeviceClass> Catalogue::device(std::string_view model) const {
  const CataloguePart* found = part(model);
  return found ? std::optional(found->device) : std::nullopt;
}

std::optional<fabric::LinkClass> Catalogue::link(std::string_view name) const {
  for (const auto& [known, link] : links_) {
    if (known == name) return link;
  }
  return std::nullopt;
}

std::vector<std::string> Catalogue::names(DeviceKind kind) const {
  std::vector<std::string> out;
  for (const CataloguePart& p : parts_) {
    if (p.device.kind == kind) out.push_back(p.device.model);
  }
  return out;
}

std::vector<std::string> Catalogue::link_names() const {
  std::vector<std::string> out;
  for (const auto& [name, link] : links_) out.push_back(name);
  return out;
}

std::optional<std::string> Catalogue::network_link(LinkKind kind, BitRate rate) const {
  for (const auto& [name, link] : links_) {
    if (link.kind == kind && link.raw_rate == rate) return name;
  }
  return std::nullopt;
}

std::optional<Duration> Catalogue::delay_per_metre(std::string_view medium) const {
  for (const auto& [name, delay] : media_) {
    if (name == medium) return delay;
  }
  return std::nullopt;
}

std::vector<std::string> Catalogue::media() const {
  std::vector<std::string> out;
  for (const auto& [name, delay] : media_) out.push_back(name);
  return out;
}

std::optional<std::string> Catalogue::model_of_pci(std::uint32_t vendor,
                                                   std::uint32_t device) const {
  const auto at = pci_ids_.find({vendor, device});
  return at == pci_ids_.end() ? std::nullopt : std::optional(at->second);
}

NvlinkPort Catalogue::nvlink_of(std::string_view gpu_model) const {
  const CataloguePart* gpu = part(gpu_model);
  return gpu ? gpu->nvlink : NvlinkPort{};
}

std::string Catalogue::model_of_cpu(const CpuId& id) const {
  const CataloguePart* best = nullptr;
  for (const CataloguePart& p : parts_) {
    const fabric::DeviceClass& d = p.device;
    if (d.kind != DeviceKind::cpu || d.vendor != id.vendor) continue;
    if (d.cpu_architecture != id.architecture) continue;
    if (d.cpu_family != id.family && d.cpu_family != 0) continue;
    if (d.cpu_model > id.model) continue;
    if (best == nullptr || d.cpu_model > best->device.cpu_model) best = &p;
  }
  if (best != nullptr) return best->device.model;
  return id.architecture == "arm64" ? "generic-arm64" : "generic-x86_64";
}

fabric::DeviceClass Catalogue::host_bridge_of(std::string_view cpu_model) const {
  const CataloguePart* cpu = part(cpu_model);
  CHECK(cpu != nullptr && cpu->device.kind == DeviceKind::cpu);
  fabric::DeviceClass bridge;
  bridge.kind = DeviceKind::host_bridge;
  bridge.model = fmt::format("{} host bridge", cpu_model);
  bridge.vendor = cpu->device.vendor;
  bridge.forwarding_latency = cpu->root_complex_latency;
  bridge.splits_p2p_tlps = cpu->device.splits_p2p_tlps;
  return bridge;
}

fabric::LinkClass Catalogue::socket_link_of(std::string_view cpu_model,
                                            std::optional<int> links) const {
  const CataloguePart* cpu = part(cpu_model);
  CHECK(cpu != nullptr && cpu->device.kind == DeviceKind::cpu);
  const int count = links.value_or(cpu->socket_links);
  fabric::LinkClass out = *link(cpu->socket_link);
  out.name = fmt::format("{} x{}", cpu->socket_link, count);
  out.raw_rate = out.raw_rate * count;
  out.width = count;
  out.peer_rate = cpu->peer_rate;
  return out;
}

fabric::LinkClass Catalogue::on_die_link_of(std::string_view cpu_model,
                                            int nodes_per_socket) const {
  const CataloguePart* cpu = part(cpu_model);
  CHECK(cpu != nullptr && cpu->device.kind == DeviceKind::cpu && nodes_per_socket > 0);
  fabric::LinkClass out;
  out.kind = LinkKind::on_die;
  out.name = "on-die";
  out.raw_rate = cpu->memory_bandwidth.scaled(1.0 / nodes_per_socket);
  return out;
}

std::string_view Catalogue::source_title(std::string_view id) const {
  const auto at = sources_.find(id);
  return at == sources_.end() ? std::string_view() : std::string_view(at->second.title);
}

}  // namespace weft::import
