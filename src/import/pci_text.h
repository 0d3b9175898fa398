// How dumps write PCI facts: addresses ("0000:1b:00.0"), class codes ("0x030200"), link speeds
// ("16 GT/s", "32.0 GT/s PCIe"), CPU masks ("000000ff,ffff0000"). Shared by the importers of node
// topologies. Leaves out: PCI names (pci.ids); models come from the catalogue by vendor and device.
// Sources: Linux sysfs-bus-pci ABI, PCI Code and ID Assignment Specification (class codes).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::import {

struct PciAddress {
  std::uint32_t domain = 0, bus = 0, device = 0, function = 0;
  friend auto operator<=>(const PciAddress&, const PciAddress&) = default;
  // Equal in all but the function: two functions of one card.
  [[nodiscard]] bool same_slot(const PciAddress& other) const {
    return domain == other.domain && bus == other.bus && device == other.device;
  }
};

// "dddd:bb:dd.f", also with a domain of up to 8 digits or none ("bb:dd.f"). nullopt when malformed.
std::optional<PciAddress> parse_pci_address(std::string_view text);

enum class PciClass { bridge, nvswitch, gpu, nic, other };
// From the 24-bit class code: 0x0604xx bridge, 0x0680xx NVSwitch, 0x0300xx, 0x0302xx, 0x0380xx and
// 0x12xxxx GPU, 0x02xxxx and 0x0c06xx NIC.
PciClass pci_class_of(std::uint32_t class_code);

// 0 stands for "not known" in both.
struct PciSpeed {
  int generation = 0;
  int lanes = 0;
  friend bool operator==(PciSpeed, PciSpeed) = default;
};

// Generation of "16 GT/s", "32.0 GT/s PCIe"; 0 for "" and "Unknown..."; nullopt when it is no
// speed.
std::optional<int> parse_pcie_generation(std::string_view text);
// Gigatransfers per second of a generation, for messages: "2.5", "16".
std::string_view gigatransfers(int generation);
// 1, 2, 4, 8, 12 or 16; 0 for 0 and 255 (what Linux prints when it does not know); nullopt for the
// rest.
std::optional<int> parse_lanes(std::string_view text);

// The generation and width whose payload rate hwloc writes as `gb_per_s` (rates after line coding:
// 0.25, 0.5, 0.985, 1.97, 3.94 GB/s a lane). Several pairs give one rate (16 lanes of gen 3 are 8
// of gen 4): the widest is taken. {0, 0} for 0; nullopt when no pair comes within 0.5 %.
std::optional<PciSpeed> pcie_of_rate(double gb_per_s);

// "00000003,ffff0000" or "0x0000ffff,,0x1" (32-bit words, highest first, empty = 0) as the list
// "16-33". "" when no bit is set; nullopt when malformed.
std::optional<std::string> cpu_list_of_mask(std::string_view mask);

}  // namespace weft::import
