// A server as a picture: each NUMA domain's PCIe tree hangs from its CPU, leaves (GPUs, NICs) get
// equal columns, parents stand over the middle of their children, NVSwitches lie below the GPUs.
// GPU-to-GPU links without a switch are arcs below. Colour goes by link kind and each line's title
// gives its class.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "report/topo_report.h"

namespace weft::report {
namespace {

using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::Fabric;
using fabric::LinkId;
using fabric::LinkKind;

constexpr double kColumn = 92, kRow = 84, kBoxWidth = 80, kBoxHeight = 34, kMargin = 24,
                 kTitle = 40;

struct Place {
  double x = 0, y = 0;
};

std::string escape(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string_view fill_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu:
      return "#d5f0d0";
    case DeviceKind::cpu:
      return "#dbe5fb";
    case DeviceKind::nic:
      return "#fbe3cf";
    case DeviceKind::nvswitch:
      return "#bfe3b8";
    default:
      return "#eeeeee";
  }
}

std::string_view stroke_of(LinkKind kind) {
  switch (kind) {
    case LinkKind::nvlink:
      return "#3a8f2d";
    case LinkKind::xgmi:
      return "#b3261e";
    case LinkKind::c2c:
      return "#7b3fb3";
    case LinkKind::inter_socket:
      return "#2b5fb8";
    default:
      return "#777777";
  }
}

bool is_tree_link(LinkKind kind) {
  return kind == LinkKind::pcie || kind == LinkKind::on_die;
}

// Lays the server out column by column.
class Layout {
 public:
  Layout(const Fabric& fabric, fabric::ServerId server) : fabric_(fabric) {
    const auto range = fabric.devices_of(server);
    for (std::uint32_t d = range.first; d < range.last; ++d) devices_.push_back(DeviceId(d));
    for (DeviceId device : devices_) {
      if (fabric.kind(device) == DeviceKind::cpu) place_tree(device, 0);
    }
    for (DeviceId device : devices_) {  // what no CPU reaches through PCIe
      if (!placed_.contains(device) && fabric.kind(device) != DeviceKind::nvswitch)
        place_tree(device, 1);
    }
    place_nvswitches();
  }

  [[nodiscard]] const std::vector<DeviceId>& devices() const { return devices_; }
  [[nodiscard]] const Place* find(DeviceId device) const {
    const auto found = placed_.find(device);
    return found == placed_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] double width() const { return std::max(1, columns_) * kColumn + 2 * kMargin; }
  [[nodiscard]] double height() const { return (rows_ + 1.6) * kRow + kTitle + 2 * kMargin; }

 private:
  void place_tree(DeviceId device, int depth) {
    placed_[device] = {};  // marks it, so that the walk does not come back
    double first = 0, last = 0;
    bool has_child = false;
    for (LinkId link : fabric_.out_links(device)) {
      const DeviceId child = fabric_.to(link);
      if (!is_tree_link(fabric_.link_class(link).kind) || placed_.contains(child)) continue;
      if (fabric_.kind(child) == DeviceKind::cpu) continue;
      place_tree(child, depth + 1);
      if (!has_child) first = placed_[child].x;
      last = placed_[child].x;
      has_child = true;
    }
    const double x = has_child ? (first + last) / 2 : kMargin + (columns_++ + 0.5) * kColumn;
    placed_[device] = {x, kMargin + kTitle + depth * kRow + kBoxHeight / 2};
    rows_ = std::max(rows_, depth);
  }

  void place_nvswitches() {
    std::vector<DeviceId> switches;
    for (DeviceId device : devices_) {
      if (fabric_.kind(device) == DeviceKind::nvswitch) switches.push_back(device);
    }
    columns_ = std::max(columns_, static_cast<int>(switches.size()));
    const double y = kMargin + kTitle + (rows_ + 1.2) * kRow + kBoxHeight / 2;
    for (std::size_t i = 0; i < switches.size(); ++i) {
      const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(switches.size());
      placed_[switches[i]] = {kMargin + share * columns_ * kColumn, y};
    }
  }

  const Fabric& fabric_;
  std::vector<DeviceId> devices_;
  std::map<DeviceId, Place> placed_;
  int columns_ = 0;
  int rows_ = 0;
};

std::string draw_link(const Fabric& fabric, LinkId link, const Place& a, const Place& b) {
  const fabric::LinkClass& link_class = fabric.link_class(link);
  const double width = std::clamp(link_class.raw_rate.gb_per_s() / 60, 1.0, 6.0);
  const std::string style = fmt::format("stroke=\"{}\" stroke-width=\"{:.1f}\" fill=\"none\"",
                                        stroke_of(link_class.kind), width);
  const std::string title =
      escape(fmt::format("{}: {}, {:.1f} GB/s a direction", fabric.link_name(link), link_class.name,
                         link_class.raw_rate.gb_per_s()));
  if (std::abs(a.y - b.y) > 1 || is_tree_link(link_class.kind)) {
    return fmt::format(
        "<line x1=\"{:.0f}\" y1=\"{:.0f}\" x2=\"{:.0f}\" y2=\"{:.0f}\" "
        "{}><title>{}</title></line>\n",
        a.x, a.y, b.x, b.y, style, title);
  }
  const double dip = a.y + std::min(kRow * 1.4, 30 + std::abs(a.x - b.x) * 0.18);
  return fmt::format(
      "<path d=\"M{:.0f} {:.0f} Q{:.0f} {:.0f} {:.0f} {:.0f}\" {}><title>{}</title></path>\n", a.x,
      a.y, (a.x + b.x) / 2, 2 * dip - a.y, b.x, b.y, style, title);
}

std::string draw_device(const Fabric& fabric, DeviceId device, const Place& place) {
  const std::string_view full = fabric.name(device);
  const std::string name =
      escape(full.substr(full.rfind('/') == full.npos ? 0 : full.rfind('/') + 1));
  const fabric::DeviceClass& device_class = fabric.device_class(device);
  return fmt::format(
      "<g><title>{}: {}</title><rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{}\" height=\"{}\" rx=\"5\" "
      "fill=\"{}\" stroke=\"#555\"/><text x=\"{:.0f}\" y=\"{:.0f}\" "
      "text-anchor=\"middle\">{}</text></g>\n",
      name, escape(device_class.model), place.x - kBoxWidth / 2, place.y - kBoxHeight / 2,
      kBoxWidth, kBoxHeight, fill_of(device_class.kind), place.x, place.y + 4, name);
}

}  // namespace

std::string topo_svg(const Fabric& fabric, fabric::ServerId server, const std::string& title) {
  const Layout layout(fabric, server);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"{3}\" font-size=\"16\">{4}</text>\n",
      layout.width(), layout.height(), kMargin, kMargin + 8, escape(title));
  for (DeviceId device : layout.devices()) {
    for (LinkId link : fabric.out_links(device)) {
      const Place* a = layout.find(device);
      const Place* b = layout.find(fabric.to(link));
      if (link.index() % 2 == 0 && a != nullptr && b != nullptr)
        out += draw_link(fabric, link, *a, *b);
    }
  }
  for (DeviceId device : layout.devices()) {
    if (const Place* place = layout.find(device)) out += draw_device(fabric, device, *place);
  }
  return out + "</svg>\n";
}

}  // namespace weft::report
