#include "import/hwloc_nvlinks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "fabric/nvlink.h"
#include "import/xml_fields.h"

namespace weft::import {

namespace {

using fabric::LinkKind;

std::string_view name_of(const XmlElement& element) {
  const std::string* name = element.attribute("name");
  return name == nullptr ? std::string_view() : std::string_view(*name);
}

class NvlinkMatrix {
 public:
  NvlinkMatrix(const HwlocObjects& objects, const ImportInputs& context, ServerSketch& sketch,
               Diagnostics& diagnostics)
      : objects_(objects),
        catalogue_(*context.catalogue),
        hints_(context.hints),
        sketch_(sketch),
        diagnostics_(diagnostics) {}

  void read(const XmlElement& root) {
    for (const XmlElement& child : root.children) {
      if (!child.name.starts_with("distances2")) continue;
      if (name_of(child) == "NVLinkBandwidth") read_nvlink_matrix(child);
    }
  }

 private:
  void read_nvlink_matrix(const XmlElement& element) {
    XmlFields fields(element, diagnostics_);
    const auto count = fields.required_integer("nbobjs", 1, 256);
    if (!count) return;
    std::vector<std::string> objects;
    std::vector<std::int64_t> mb_per_s;
    for (const XmlElement& child : element.children) {
      for (const std::string_view word : split_whitespace(child.text)) {
        if (child.name == "indexes") objects.emplace_back(word);
        if (child.name != "u64values") continue;
        const auto value = parse_int(word);
        if (!value || *value < 0) {
          fields.complain(fmt::format("'{}' is no rate in MB/s", word), "a whole number");
          return;
        }
        mb_per_s.push_back(*value);
      }
    }
    const auto n = static_cast<std::size_t>(*count);
    if (objects.size() != n || mb_per_s.size() != n * n) {
      fields.complain(fmt::format("{} objects and {} values in a matrix of {}", objects.size(),
                                  mb_per_s.size(), n),
                      "nbobjs indexes and nbobjs x nbobjs values");
      return;
    }
    add_nvlinks(objects, mb_per_s);
  }

  void add_nvlinks(const std::vector<std::string>& objects,
                   const std::vector<std::int64_t>& rates) {
    sketch_.lists_peers = true;
    if (joined_by_nvswitch(objects, rates)) return;
    const std::size_t n = objects.size();
    for (std::size_t a = 0; a < n; ++a) {
      const auto gpu = gpu_named(objects[a]);
      if (!gpu) continue;
      const int per_link = mb_per_link(*gpu);
      for (std::size_t b = 0; b < n; ++b) {
        const int links = static_cast<int>(std::min<std::int64_t>(rates[a * n + b] / per_link, 64));
        if (a == b || links == 0) continue;
        const auto other = gpu_named(objects[b]);
        const auto cpu = cpu_named(objects[b]);
        if (other == gpu) continue;  // one GPU under two names, as NVML and as CUDA device
        if (other && a < b) {
          sketch_.peers.push_back({LinkKind::nvlink, *gpu, ServerSketch::End::gpu, *other, links});
        } else if (!other && cpu) {
          sketch_.peers.push_back({LinkKind::nvlink, *gpu, ServerSketch::End::cpu, *cpu, links});
        }
      }
    }
  }

  // The same rate between all pairs, and more links in all than a GPU has: they share switches.
  bool joined_by_nvswitch(const std::vector<std::string>& objects,
                          const std::vector<std::int64_t>& rates) {
    std::vector<std::size_t> gpus, places;
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const auto gpu = gpu_named(objects[i]);
      if (gpu && std::find(gpus.begin(), gpus.end(), *gpu) == gpus.end()) {
        gpus.push_back(*gpu);
        places.push_back(i);
      }
    }
    if (gpus.size() < 2) return false;
    const std::int64_t rate = rates[places[0] * objects.size() + places[1]];
    for (const std::size_t a : places) {
      for (const std::size_t b : places) {
        if (a != b && rates[a * objects.size() + b] != rate) return false;
      }
    }
    const int links = static_cast<int>(std::min<std::int64_t>(rate / mb_per_link(gpus[0]), 64));
    const int has = catalogue_.nvlink_of(sketch_.nodes[gpus[0]].model).links;
    if (links == 0 || has == 0 || links * static_cast<int>(gpus.size() - 1) <= has) return false;
    for (const std::size_t gpu : gpus) {
      join_to_nvswitch(sketch_, gpu, std::min(links, has), catalogue_, hints_);
    }
    return true;
  }

  [[nodiscard]] int mb_per_link(std::size_t gpu) const {
    const int generation = catalogue_.nvlink_of(sketch_.nodes[gpu].model).generation;
    if (generation == 0) return 25'000;
    return static_cast<int>(fabric::nvlink_stated_rate(generation).bps() / 8'000'000);
  }

  // "OSDev:332", "Package:3" or, where all objects are of one type, "332".
  [[nodiscard]] std::optional<std::size_t> gpu_named(std::string_view object) const {
    if (object.starts_with("OSDev:")) object.remove_prefix(6);
    const auto found = objects_.gpu_of_index.find(std::string(object));
    if (found == objects_.gpu_of_index.end()) return std::nullopt;
    return found->second;
  }

  [[nodiscard]] std::optional<std::size_t> cpu_named(std::string_view object) const {
    if (!object.starts_with("Package:")) return std::nullopt;
    const auto found = objects_.package_of_index.find(std::string(object.substr(8)));
    if (found == objects_.package_of_index.end()) return std::nullopt;
    for (std::size_t i = 0; i < sketch_.cpus.size(); ++i) {
      if (sketch_.cpus[i].package == found->second) return i;
    }
    return std::nullopt;
  }

  const HwlocObjects& objects_;
  const Catalogue& catalogue_;
  const ServerHints* hints_;
  ServerSketch& sketch_;
  Diagnostics& diagnostics_;
};

}  // namespace

void add_hwloc_nvlinks(const XmlElement& root, const HwlocObjects& objects,
                       const ImportInputs& context, ServerSketch& sketch,
                       Diagnostics& diagnostics) {
  NvlinkMatrix(objects, context, sketch, diagnostics).read(root);
}

}  // namespace weft::import
