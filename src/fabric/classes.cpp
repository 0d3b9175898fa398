#include "fabric/classes.h"

#include <array>

#include "base/check.h"

namespace weft::fabric {

namespace {

template <class Enum, std::size_t n>
std::string_view name_of(Enum value, const std::array<std::string_view, n>& names) {
  const auto index = static_cast<std::size_t>(value);
  CHECK(index < n);
  return names[index];
}

}  // namespace

std::string_view to_text(DeviceKind kind) {
  static constexpr std::array<std::string_view, kDeviceKindCount> kNames = {
      "gpu", "cpu", "host_bridge", "pcie_switch", "nvswitch", "nic", "switch", "ocs", "gateway"};
  return name_of(kind, kNames);
}

std::string_view to_text(LinkKind kind) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "pcie",       "nvlink",          "xgmi",     "c2c", "inter_socket", "on_die", "ethernet",
      "infiniband", "optical_circuit", "wide_area"};
  return name_of(kind, kNames);
}

std::string_view to_text(FlowControl flow_control) {
  static constexpr std::array<std::string_view, 3> kNames = {"lossy", "pfc", "credit"};
  return name_of(flow_control, kNames);
}

std::string_view to_text(Vendor vendor) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "unknown", "nvidia", "amd",      "intel",    "arm",    "ibm",
      "zhaoxin", "aws",    "mellanox", "broadcom", "huawei", "google"};
  return name_of(vendor, kNames);
}

}  // namespace weft::fabric
