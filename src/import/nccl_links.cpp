#include "import/nccl_links.h"

#include <fmt/format.h>

#include "import/xml_fields.h"

namespace weft::import {

namespace {

using fabric::LinkKind;
using End = ServerSketch::End;
using Kind = ServerSketch::Kind;

constexpr std::uint32_t kNvswitchClass = 0x068000,
                        kCpuClass = 0x068001;  // as NCCL tells them apart
constexpr std::string_view kAgree = "both GPUs of a link name each other, with the same count";

}  // namespace

std::optional<NcclLink> read_nccl_link(const XmlElement& element, std::size_t gpu,
                                       Diagnostics& diagnostics) {
  XmlFields fields(element, diagnostics);
  fields.check_names({"target", "count", "tclass"});
  NcclLink link;
  link.gpu = gpu;
  link.kind = element.name == "nvlink" ? LinkKind::nvlink : LinkKind::xgmi;
  link.where = element.where;
  link.target_text = fields.required("target", "the busid at the other end");
  const auto count = fields.required_integer("count", 1, 64);
  const auto target_class = fields.hex("tclass", 0xffffff);
  if (link.target_text.empty() || !count) return std::nullopt;
  const auto target = parse_pci_address(link.target_text);
  const bool hidden = !target && link.target_text.find_first_not_of("f:.") == std::string::npos;
  if (!target && !hidden) {
    fields.complain(fmt::format("target '{}' is no PCI address", link.target_text),
                    "domain:bus:device.function, such as 0000:1b:00.0");
    return std::nullopt;
  }
  link.target = target.value_or(PciAddress{});
  link.target_class = target_class.value_or(hidden ? kNvswitchClass : 0);
  link.count = static_cast<int>(*count);
  return link;
}

std::vector<HiddenChips> NcclLinks::join(const std::set<PciAddress>& present) {
  std::map<PciAddress, std::size_t> gpus;
  for (const std::size_t i : sketch_.of_kind(Kind::gpu)) {
    if (sketch_.nodes[i].address) gpus.emplace(*sketch_.nodes[i].address, i);
  }
  std::map<Pair, int> to_chip;  // GPU, chip
  std::map<std::size_t, int> to_cpu;
  std::map<std::string, std::size_t> chips;
  for (const NcclLink& link : links_) {
    const auto peer = gpus.find(link.target);
    if (peer != gpus.end()) {
      add_direct(link, peer->second);
    } else if (link.target_class == kCpuClass) {
      to_cpu[link.gpu] += link.count;
    } else if (link.target_class >> 8 == kNvswitchClass >> 8) {
      const std::size_t chip = chips.try_emplace(link.target_text, chips.size()).first->second;
      to_chip[{link.gpu, chip}] += link.count;
    } else {
      no_peer(link, present);
    }
  }
  for (const auto& [pair, link] : direct_) pair_up(pair, *link);
  for (const auto& [gpu, links] : to_cpu) {
    const std::size_t cpu = sketch_.host_bridges[sketch_.nodes[gpu].host_bridge].cpu;
    sketch_.peers.push_back({LinkKind::nvlink, gpu, End::cpu, cpu, links});
  }
  std::vector<HiddenChips> hidden;
  for (const auto& [ends, links] : to_chip) {
    if (chips.size() == 1) {
      hidden.push_back({ends.first, links});
    } else {
      sketch_.peers.push_back({LinkKind::nvlink, ends.first, End::nvswitch, ends.second, links});
    }
  }
  return hidden;
}

void NcclLinks::add_direct(const NcclLink& link, std::size_t peer) {
  if (peer == link.gpu) {
    notes_.push_back(
        fmt::format("{} on line {} leads from a GPU to itself: left out, its NVLinks are not known",
                    link.kind == LinkKind::nvlink ? "nvlink" : "xgmi", link.where.line));
    return;
  }
  const auto [at, is_new] = direct_.try_emplace({link.gpu, peer}, &link);
  if (is_new) return;
  diagnostics_.add(link.where,
                   fmt::format("a second link to {}; first on line {}", link.target_text,
                               at->second->where.line),
                   "write one element per peer, with count for parallel links");
}

void NcclLinks::pair_up(Pair pair, const NcclLink& link) {
  const auto back = direct_.find({pair.second, pair.first});
  if (back == direct_.end()) {
    diagnostics_.add(link.where,
                     fmt::format("link to {} is not stated by that GPU", link.target_text),
                     std::string(kAgree));
    return;
  }
  if (pair.first > pair.second) return;  // told once
  const NcclLink& other = *back->second;
  if (other.count != link.count || other.kind != link.kind) {
    diagnostics_.add(other.where,
                     fmt::format("count {} disagrees with count {} on line {} for the same link",
                                 other.count, link.count, link.where.line),
                     std::string(kAgree));
    return;
  }
  sketch_.peers.push_back({link.kind, pair.first, End::gpu, pair.second, link.count});
}

void NcclLinks::no_peer(const NcclLink& link, const std::set<PciAddress>& present) {
  if (present.contains(link.target)) {
    diagnostics_.add(link.where, fmt::format("target {} is no GPU", link.target_text),
                     "NVLink and xGMI lead to a GPU, an NVSwitch (tclass 0x068000) or a CPU");
    return;
  }
  notes_.push_back(
      fmt::format("link to {} left out: that device is not in the file (hidden by a container?)",
                  link.target_text));
}

}  // namespace weft::import
