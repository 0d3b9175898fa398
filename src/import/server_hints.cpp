#include "import/server_hints.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "base/yaml.h"

namespace weft::import {

namespace {

using fabric::Vendor;

const std::vector<std::string> kVendorNames = {"intel", "amd", "arm", "ibm", "nvidia"};
constexpr std::array<Vendor, 5> kVendors = {Vendor::intel, Vendor::amd, Vendor::arm, Vendor::ibm,
                                            Vendor::nvidia};

class HintsReader {
 public:
  explicit HintsReader(const Source& source) : source_(source) {}

  ServerHints read() {
    const YamlNode root = parse_yaml(source_.text, source_.file);
    Fields fields(root, "server hints", diagnostics_);
    fields.required_string("schema");
    for (const YamlNode& item : fields.optional_list("wirings")) read_named_wiring(item);
    for (const YamlNode& item : fields.optional_list("servers")) read_server(item);
    for (const YamlNode& item : fields.optional_list("usual_wirings")) read_usual_wiring(item);
    for (const YamlNode& item : fields.optional_list("gpu_by_nvlinks")) read_by_nvlinks(item);
    for (const YamlNode& item : fields.optional_list("gpu_by_number")) read_by_number(item);
    for (const YamlNode& item : fields.optional_list("nvswitch_chips")) read_chips(item);
    fields.finish();
    diagnostics_.throw_if_any(source_.text);
    return std::move(hints_);
  }

 private:
  // Every row says where it is from; a row that does not is a fault.
  static void read_provenance(Fields& row) {
    row.required_string("source");
    row.required_string("confidence");
  }

  void read_named_wiring(const YamlNode& item) {
    Fields row(item, "wiring", diagnostics_);
    NvlinkWiring wiring;
    wiring.kind = NvlinkWiring::Kind::pairs;
    wiring.name = row.required_string("name");
    for (const YamlNode& pair : row.optional_list("pairs")) {
      Fields fields(pair, "pair", diagnostics_);
      GpuPair p;
      p.a = static_cast<int>(fields.required_int("a", 0, 255));
      p.b = static_cast<int>(fields.required_int("b", 0, 255));
      p.links = static_cast<int>(fields.required_int("links", 1, 36));
      fields.finish();
      wiring.pairs.push_back(p);
    }
    read_provenance(row);
    row.finish();
    wirings_.push_back(std::move(wiring));
  }

  std::optional<NvlinkWiring> wiring_of(Fields& row) {
    const auto name = row.optional_string("nvlink");
    if (!name) return std::nullopt;
    if (*name == "nvswitch") return NvlinkWiring{NvlinkWiring::Kind::nvswitch, *name, {}};
    if (*name == "none") return NvlinkWiring{NvlinkWiring::Kind::none, *name, {}};
    std::vector<std::string> known = {"nvswitch", "none"};
    for (const NvlinkWiring& wiring : wirings_) {
      if (wiring.name == *name) return wiring;
      known.push_back(wiring.name);
    }
    row.complain("nvlink", fmt::format("unknown wiring '{}'", *name), suggest(*name, known));
    return std::nullopt;
  }

  static std::vector<std::string> texts(const std::vector<YamlNode>& list) {
    std::vector<std::string> out;
    for (const YamlNode& node : list) out.push_back(node.text);
    return out;
  }

  void read_server(const YamlNode& item) {
    Fields row(item, "server", diagnostics_);
    ServerFingerprint server;
    server.title = row.required_string("title");
    server.shape = row.optional_string("shape").value_or("");
    if (const auto vendor = row.optional_choice("cpu_vendor", kVendorNames)) {
      server.cpu_vendor = kVendors[*vendor];
    }
    if (const auto family = row.optional_int("cpu_family", 0, 4095)) {
      server.cpu_family = static_cast<int>(*family);
    }
    if (const auto model = row.optional_int("cpu_model", 0, 65535)) {
      server.cpu_model = static_cast<int>(*model);
    }
    server.gpu_addresses = texts(row.optional_list("gpu_addresses"));
    server.nic_addresses = texts(row.optional_list("nic_addresses"));
    server.gpu = row.optional_string("gpu").value_or("");
    server.nic = row.optional_string("nic").value_or("");
    if (const auto generation = row.optional_int("pcie_generation", 1, 7)) {
      server.pcie_generation = static_cast<int>(*generation);
    }
    server.wiring = wiring_of(row);
    read_provenance(row);
    row.finish();
    hints_.servers.push_back(std::move(server));
  }

  void read_usual_wiring(const YamlNode& item) {
    Fields row(item, "usual wiring", diagnostics_);
    ServerHints::UsualWiring usual;
    usual.model_prefix = row.required_string("gpu_prefix");
    usual.gpus = static_cast<int>(row.required_int("gpus", 1, 256));
    if (const auto wiring = wiring_of(row)) usual.wiring = *wiring;
    read_provenance(row);
    row.finish();
    hints_.wirings.push_back(std::move(usual));
  }

  void read_by_nvlinks(const YamlNode& item) {
    Fields row(item, "GPU by NVLinks", diagnostics_);
    ServerHints::ByNvlinks by;
    by.links = static_cast<int>(row.required_int("links", 1, 64));
    by.gpus = static_cast<int>(row.optional_int("gpus", 1, 256).value_or(0));
    by.nvswitch = row.optional_bool("nvswitch").value_or(false);
    by.model = row.required_string("gpu");
    by.remark = row.optional_string("remark").value_or("");
    read_provenance(row);
    row.finish();
    hints_.by_nvlinks.push_back(std::move(by));
  }

  void read_by_number(const YamlNode& item) {
    Fields row(item, "GPU by number", diagnostics_);
    ServerHints::ByNumber by;
    if (const auto vendor = row.optional_choice("vendor", kVendorNames)) {
      by.vendor = kVendors[*vendor];
    }
    by.number = static_cast<int>(row.required_int("number", 1, 9999));
    by.has_peers = row.optional_bool("scale_up").value_or(false);
    by.model = row.required_string("gpu");
    read_provenance(row);
    row.finish();
    hints_.by_number.push_back(std::move(by));
  }

  void read_chips(const YamlNode& item) {
    Fields row(item, "NVSwitch chips", diagnostics_);
    ServerHints::Chips chips;
    chips.generation = static_cast<int>(row.required_int("nvlink", 1, 9));
    for (const YamlNode& links : row.optional_list("links")) {
      const auto count = parse_int(links.text);
      if (!count || *count < 1 || *count > 64) {
        row.complain("links", fmt::format("'{}' is no number of links", links.text), "1 to 64");
        continue;
      }
      chips.links.push_back(static_cast<int>(*count));
    }
    read_provenance(row);
    row.finish();
    hints_.chips.push_back(std::move(chips));
  }

  const Source& source_;
  Diagnostics diagnostics_;
  ServerHints hints_;
  std::vector<NvlinkWiring> wirings_;
};

}  // namespace

ServerHints read_hints(const Source& source) {
  return HintsReader(source).read();
}

}  // namespace weft::import
