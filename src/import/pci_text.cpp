#include "import/pci_text.h"

#include <array>
#include <cmath>
#include <vector>

#include "base/text.h"

namespace weft::import {

namespace {

struct Generation {
  std::string_view gigatransfers;
  double number;
  double lane_gb_per_s;  // as hwloc computes it: 8b/10b up to gen 2, 128b/130b to 5, flits after
};

constexpr std::array<Generation, 7> kGenerations = {{
    {"2.5", 2.5, 0.25},
    {"5", 5, 0.5},
    {"8", 8, 8.0 / 8 * 128 / 130},
    {"16", 16, 16.0 / 8 * 128 / 130},
    {"32", 32, 32.0 / 8 * 128 / 130},
    {"64", 64, 64.0 / 8 * 242 / 256},
    {"128", 128, 128.0 / 8 * 242 / 256},
}};
constexpr std::array<int, 6> kWidths = {16, 12, 8, 4, 2, 1};

std::optional<std::uint32_t> hex_field(std::string_view text, std::size_t max_digits) {
  if (text.empty() || text.size() > max_digits) return std::nullopt;
  if (text.find_first_not_of("0123456789abcdefABCDEF") != text.npos) return std::nullopt;
  const auto value = parse_hex(text);
  if (!value) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

// The set bits of a mask, lowest first.
std::optional<std::vector<int>> bits_of_mask(std::string_view mask) {
  constexpr std::size_t kMaxWords = 1024;  // 32768 CPUs, Linux's own limit is 8192
  const auto words = split(mask, ',');
  if (words.size() > kMaxWords) return std::nullopt;
  std::vector<int> bits;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view word = trim(words[words.size() - 1 - i]);
    if (word.starts_with("0x")) word.remove_prefix(2);
    if (word.empty()) continue;
    const auto value = hex_field(word, 8);
    if (!value) return std::nullopt;
    for (int bit = 0; bit < 32; ++bit) {
      if ((*value >> bit & 1u) != 0) bits.push_back(static_cast<int>(i) * 32 + bit);
    }
  }
  return bits;
}

}  // namespace

std::optional<PciAddress> parse_pci_address(std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  const auto slot = split(parts.back(), '.');
  if (slot.size() != 2) return std::nullopt;
  const auto domain = parts.size() == 3 ? hex_field(parts[0], 8) : std::optional<std::uint32_t>(0);
  const auto bus = hex_field(parts[parts.size() - 2], 2);
  const auto device = hex_field(slot[0], 2);
  const auto function = hex_field(slot[1], 1);
  if (!domain || !bus || !device || !function) return std::nullopt;
  if (*device > 0x1f || *function > 7) return std::nullopt;
  return PciAddress{*domain, *bus, *device, *function};
}

PciClass pci_class_of(std::uint32_t class_code) {
  const std::uint32_t base = class_code >> 16;
  const std::uint32_t sub = class_code >> 8;
  if (sub == 0x0604) return PciClass::bridge;
  if (sub == 0x0680) return PciClass::nvswitch;
  if (sub == 0x0300 || sub == 0x0302 || sub == 0x0380 || base == 0x12) return PciClass::gpu;
  if (base == 0x02 || sub == 0x0c06) return PciClass::nic;
  return PciClass::other;
}

std::optional<int> parse_pcie_generation(std::string_view text) {
  std::string_view speed = trim(text);
  if (speed.empty() || speed.starts_with("Unknown")) return 0;
  if (speed.ends_with("PCIe")) speed = trim(speed.substr(0, speed.size() - 4));
  if (!speed.ends_with("GT/s")) return std::nullopt;
  const auto number = parse_double(trim(speed.substr(0, speed.size() - 4)));
  if (!number) return std::nullopt;
  for (std::size_t i = 0; i < kGenerations.size(); ++i) {
    if (std::fabs(*number - kGenerations[i].number) < 1e-9) return static_cast<int>(i) + 1;
  }
  return std::nullopt;
}

std::string_view gigatransfers(int generation) {
  return kGenerations[static_cast<std::size_t>(generation) - 1].gigatransfers;
}

std::optional<int> parse_lanes(std::string_view text) {
  const auto lanes = parse_int(trim(text));
  if (!lanes) return std::nullopt;
  if (*lanes == 0 || *lanes == 255) return 0;
  for (const int width : kWidths) {
    if (*lanes == width) return width;
  }
  return std::nullopt;
}

std::optional<PciSpeed> pcie_of_rate(double gb_per_s) {
  if (gb_per_s == 0) return PciSpeed{};
  constexpr double kTolerance = 0.005;  // gen 3 x4 and gen 1 x16 are only 1.5 % apart
  for (const int width : kWidths) {
    for (std::size_t i = 0; i < kGenerations.size(); ++i) {
      const double rate = kGenerations[i].lane_gb_per_s * width;
      if (std::fabs(gb_per_s - rate) < kTolerance * rate) {
        return PciSpeed{static_cast<int>(i) + 1, width};
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> cpu_list_of_mask(std::string_view mask) {
  const auto bits = bits_of_mask(mask);
  if (!bits) return std::nullopt;
  std::string list;
  for (std::size_t i = 0; i < bits->size();) {
    std::size_t last = i;
    while (last + 1 < bits->size() && (*bits)[last + 1] == (*bits)[last] + 1) ++last;
    if (!list.empty()) list += ',';
    list += std::to_string((*bits)[i]);
    if (last > i) list += '-' + std::to_string((*bits)[last]);
    i = last + 1;
  }
  return list;
}

}  // namespace weft::import
