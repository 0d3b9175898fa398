// CatalogueReader: the parts and links that engines use, from the records of their sections.
#include <fmt/format.h>

#include <array>

#include "import/catalogue_reader.h"

namespace weft::import {
namespace {

using fabric::DeviceKind;
using fabric::LinkKind;
using fabric::Vendor;

// The record that gives an Ethernet switch its latency when neither it nor its chip states one.
constexpr std::string_view kTypicalSwitch = "generic-ethernet-switch";

template <class Enum>
std::vector<std::string> words(Enum last) {
  std::vector<std::string> all;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    all.emplace_back(to_text(static_cast<Enum>(i)));
  }
  return all;
}

}  // namespace

void CatalogueReader::read_medium(RecordReader& record) {
  const Duration delay = record.time("delay_per_metre").value_or(Duration());
  if (const PartRecord* medium = add(record)) catalogue_.media_.emplace_back(medium->name, delay);
}

void CatalogueReader::read_link(RecordReader& record) {
  fabric::LinkClass link;
  link.name = record.name();
  const auto kind = record.fields().optional_choice("kind", words<LinkKind>(LinkKind::wide_area));
  if (!kind) record.fields().complain("kind", "link has no kind", "add 'kind: ethernet'");
  link.kind = static_cast<LinkKind>(kind.value_or(0));
  link.raw_rate = record.required_rate("rate");
  link.latency = record.time("latency").value_or(Duration());
  link.generation = static_cast<int>(record.integer("generation", 9).value_or(0));
  if (const auto control = record.choice("flow_control", {"lossy", "pfc", "credit"})) {
    link.flow_control = static_cast<fabric::FlowControl>(*control);
  }
  if (add(record) != nullptr) catalogue_.links_.emplace_back(link.name, link);
}

// What all parts have in common, and the end of reading one.
void CatalogueReader::add_part(RecordReader& reader, CataloguePart part) {
  const PartRecord* record = add(reader);
  if (record == nullptr) return;
  part.device.model = record->name;
  part.title = record->title;
  for (int v = 0; v <= static_cast<int>(Vendor::google); ++v) {
    if (to_text(static_cast<Vendor>(v)) == record->vendor)
      part.device.vendor = static_cast<Vendor>(v);
  }
  catalogue_.part_index_.try_emplace(record->name, catalogue_.parts_.size());
  for (const std::string& alias : record->aliases)
    catalogue_.part_index_.try_emplace(alias, catalogue_.parts_.size());
  catalogue_.parts_.push_back(std::move(part));
}

void CatalogueReader::read_gpu(RecordReader& record) {
  CataloguePart part;
  part.device.kind = DeviceKind::gpu;
  part.device.compute_capability =
      static_cast<int>(record.integer("compute_capability", 9999).value_or(0));
  part.device.memory = record.bytes("memory").value_or(Bytes());
  part.pcie = record.width("pcie", 16);
  const PcieWidth nvlink = record.width("nvlink", 72);
  part.nvlink = {nvlink.lanes, nvlink.generation};
  part.device.peer_to_peer = record.flag("peer_to_peer").value_or(true);
  part.device.gpu_direct_rdma = record.flag("gpu_direct_rdma").value_or(true);
  part.device.multicast = record.flag("multicast").value_or(false);
  add_part(record, std::move(part));
}

void CatalogueReader::read_cpu(RecordReader& record) {
  CataloguePart part;
  part.device.kind = DeviceKind::cpu;
  part.device.cpu_architecture = record.fields().required_string("architecture");
  part.device.cpu_family = static_cast<int>(record.integer("family", 255).value_or(0));
  part.device.cpu_model = static_cast<int>(record.integer("from_model", 255).value_or(0));
  part.memory_bandwidth = record.required_rate("memory_bandwidth");
  part.socket_link = record.reference("socket_link");
  if (part.socket_link.empty()) (void)record.fields().required_string("socket_link");
  part.socket_links = static_cast<int>(record.integer("socket_links", 16).value_or(1));
  part.peer_rate = record.required_rate("peer_rate");
  part.device.splits_p2p_tlps = record.flag("splits_p2p_tlps").value_or(false);
  part.root_complex_latency = record.time("root_complex_latency").value_or(Duration());
  add_part(record, std::move(part));
}

// A NIC that speaks neither Ethernet nor InfiniBand has a record, but engines cannot use it.
void CatalogueReader::read_nic(RecordReader& record) {
  CataloguePart part;
  part.device.kind = DeviceKind::nic;
  part.device.port_rate = record.required_rate("port_rate");
  part.pcie = record.width("pcie", 16);
  part.device.gpu_direct_rdma = record.flag("gpu_direct_rdma").value_or(true);
  bool other = false;
  for (const std::string& word : record.words("speaks")) {
    if (word == "ethernet") {
      part.speaks.push_back(LinkKind::ethernet);
    } else if (word == "infiniband") {
      part.speaks.push_back(LinkKind::infiniband);
    } else if (word == "omni-path") {
      other = true;
    } else {
      record.fields().complain("speaks", fmt::format("a NIC cannot speak '{}'", word),
                               "one of: ethernet, infiniband, omni-path");
    }
  }
  if (part.speaks.empty() && other) {
    (void)add(record);
    return;
  }
  if (part.speaks.empty()) {
    record.fields().complain("speaks", "NIC speaks nothing", "add 'speaks: [ethernet]'");
    part.speaks.push_back(LinkKind::ethernet);
  }
  part.device.port_kind = part.speaks.front();
  add_part(record, std::move(part));
}

void CatalogueReader::read_switch(RecordReader& record) {
  static constexpr std::array kKinds = {DeviceKind::network_switch, DeviceKind::nvswitch,
                                        DeviceKind::pcie_switch, DeviceKind::ocs};
  CataloguePart part;
  const auto kind =
      record.fields().optional_choice("kind", {"network", "nvswitch", "pcie", "ocs", "scale_up"});
  part.device.forwarding_latency = record.time("latency").value_or(Duration());
  part.device.buffer = record.bytes("buffer").value_or(Bytes());
  part.device.multicast = record.flag("multicast").value_or(false);
  part.device.reduces = record.flag("reduces").value_or(false);
  part.device.radix = static_cast<int>(record.integer("nvlinks", 1024).value_or(0));
  part.ports = record.ports("ports");
  if (!part.ports.empty()) {
    part.device.radix = part.ports.front().second;
    part.device.port_rate = part.ports.front().first;
  }
  if (kind.value_or(0) >= kKinds.size()) {
    (void)add(record);
    return;
  }
  part.device.kind = kKinds[kind.value_or(0)];
  add_part(record, std::move(part));
}

// What a network switch does not state comes from its chip: a box forwards as its chip does. The
// latency of one whose chip is not known either is that of a typical switch, never zero.
void CatalogueReader::complete_switches() {
  for (CataloguePart& part : catalogue_.parts_) {
    if (part.device.kind != DeviceKind::network_switch) continue;
    const PartRecord* record = catalogue_.record(part.device.model);
    const CataloguePart* chip = catalogue_.part(record->word("chip"));
    const CataloguePart* typical = catalogue_.part(kTypicalSwitch);
    if (record->figure("latency") == nullptr) {
      const bool known = chip != nullptr && chip->device.forwarding_latency > Duration();
      const CataloguePart* like = known ? chip : typical;
      if (like != nullptr) part.device.forwarding_latency = like->device.forwarding_latency;
    }
    if (record->figure("buffer") == nullptr && chip != nullptr)
      part.device.buffer = chip->device.buffer;
  }
}

}  // namespace weft::import
