// Catalogue: the parts that importers and cluster files name (GPUs, CPUs, NICs, switches, links,
// PCI ids), read from data/catalogue/*.yaml. Every figure there carries unit, source and
// confidence.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "fabric/classes.h"

namespace weft::import {

struct CatalogueText {
  std::string file;
  std::string text;
};

class Catalogue {
 public:
  // Throws InputError with every fault of every file.
  explicit Catalogue(const std::vector<CatalogueText>& files);

  // nullopt when unknown; names() below gives candidates for "did you mean".
  [[nodiscard]] std::optional<fabric::DeviceClass> device(std::string_view model) const;
  [[nodiscard]] std::optional<fabric::LinkClass> link(
      std::string_view name) const;  // "ndr", "nvlink4"
  [[nodiscard]] std::vector<std::string> names(fabric::DeviceKind kind) const;
  [[nodiscard]] std::vector<std::string> link_names() const;

  // Model by PCI vendor and device id ("0x10de", "0x20b0" -> "a100-sxm4-40gb").
  [[nodiscard]] std::optional<std::string> model_of_pci(std::uint32_t vendor,
                                                        std::uint32_t device) const;
  // NVLinks a GPU model has in all, and the payload rate of one (both 0 when none).
  struct NvlinkPort {
    int links = 0;
    int generation = 0;
  };
  [[nodiscard]] NvlinkPort nvlink_of(std::string_view gpu_model) const;

  // Every figure with its provenance, for `weft list` and --explain.
  struct Figure {
    std::string part, key, value, unit, source, confidence;
  };
  [[nodiscard]] const std::vector<Figure>& figures() const { return figures_; }

 private:
  struct Part;
  std::vector<fabric::DeviceClass> devices_;
  std::vector<std::pair<std::string, fabric::LinkClass>> links_;
  struct PciId {
    std::uint32_t vendor, device;
    std::string model;
  };
  std::vector<PciId> pci_ids_;
  std::vector<std::pair<std::string, NvlinkPort>> nvlink_ports_;
  std::vector<Figure> figures_;
};

}  // namespace weft::import
