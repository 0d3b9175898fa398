#include "import/xml_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace weft::import {

void XmlFields::complain(std::string what, std::string hint) {
  diagnostics_->add(element_->where, std::move(what), std::move(hint));
}

std::string XmlFields::required(std::string_view key, std::string_view hint) {
  const std::string* value = text(key);
  if (value != nullptr && !trim(*value).empty()) return *value;
  complain(fmt::format("{} has no {}", element_->name, key), std::string(hint));
  return {};
}

std::optional<std::int64_t> XmlFields::integer(std::string_view key, std::int64_t min,
                                               std::int64_t max) {
  const std::string* value = text(key);
  if (value == nullptr) return std::nullopt;
  const auto number = parse_int(trim(*value));
  if (!number || *number < min || *number > max) {
    complain(fmt::format("{} of {} is '{}', which is no whole number from {} to {}", key,
                         element_->name, *value, min, max),
             fmt::format("write {}=\"{}\", or leave the attribute out", key,
                         std::max<std::int64_t>(min, 0)));
    return std::nullopt;
  }
  return number;
}

std::optional<std::int64_t> XmlFields::required_integer(std::string_view key, std::int64_t min,
                                                        std::int64_t max) {
  if (text(key) == nullptr) {
    complain(fmt::format("{} has no {}", element_->name, key),
             fmt::format("add {}=\"...\", a whole number from {} to {}", key, min, max));
    return std::nullopt;
  }
  return integer(key, min, max);
}

std::optional<std::uint32_t> XmlFields::hex(std::string_view key, std::uint32_t max) {
  const std::string* value = text(key);
  if (value == nullptr) return std::nullopt;
  const auto number = parse_hex(trim(*value));
  if (!number || *number > max) {
    complain(fmt::format("{} of {} is '{}', which is no hexadecimal number up to {:#x}", key,
                         element_->name, *value, max),
             "as lspci -nn prints it, with 0x in front");
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(*number);
}

std::optional<PciAddress> XmlFields::address(std::string_view key) {
  constexpr std::string_view kHint = "domain:bus:device.function, such as 0000:1b:00.0";
  const std::string value = required(key, kHint);
  if (value.empty()) return std::nullopt;
  const auto address = parse_pci_address(trim(value));
  if (!address) {
    complain(fmt::format("{} '{}' is no PCI address", key, value), std::string(kHint));
  }
  return address;
}

PciSpeed XmlFields::pci_speed() {
  PciSpeed speed;
  if (const std::string* value = text("link_speed")) {
    const auto generation = parse_pcie_generation(*value);
    if (!generation) {
      complain(fmt::format("link_speed '{}' is no PCIe speed", *value),
               "2.5, 5, 8, 16, 32, 64 or 128 GT/s, as in \"16 GT/s\"");
    }
    speed.generation = generation.value_or(0);
  }
  if (const std::string* value = text("link_width")) {
    const auto lanes = parse_lanes(*value);
    if (!lanes) {
      complain(fmt::format("link_width '{}' is no PCIe width", *value),
               "1, 2, 4, 8, 12 or 16 lanes; 0 when not known");
    }
    speed.lanes = lanes.value_or(0);
  }
  return speed;
}

std::optional<std::string> XmlFields::cpu_list(std::string_view key) {
  const std::string* value = text(key);
  if (value == nullptr) return std::nullopt;
  const auto list = cpu_list_of_mask(*value);
  if (!list) {
    complain(fmt::format("{} '{}' is no CPU mask", key, *value),
             "groups of up to 8 hexadecimal digits with commas between, such as 00000000,ffffffff");
  }
  return list;
}

void XmlFields::check_names(const std::vector<std::string>& known) {
  std::vector<std::string> missing;
  for (const std::string& name : known) {
    if (text(name) == nullptr) missing.push_back(name);
  }
  for (const auto& [name, value] : element_->attributes) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (const auto meant = did_you_mean(name, missing)) {
      complain(fmt::format("unknown attribute '{}' of {}", name, element_->name),
               fmt::format("did you mean '{}'?", *meant));
    }
  }
}

std::string_view xml_root_name(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (true) {
    const std::size_t start = text.find_first_not_of(" \t\r\n");
    if (start == text.npos || text[start] != '<') return {};
    text.remove_prefix(start);
    std::string_view end = ">";
    if (text.starts_with("<!--")) {
      end = "-->";
    } else if (text.starts_with("<?")) {
      end = "?>";
    } else if (!text.starts_with("<!")) {
      const std::size_t stop = text.find_first_of(" \t\r\n/>", 1);
      return text.substr(1, (stop == text.npos ? text.size() : stop) - 1);
    }
    const std::size_t stop = text.find(end);
    if (stop == text.npos) return {};
    text.remove_prefix(stop + end.size());
  }
}

}  // namespace weft::import
