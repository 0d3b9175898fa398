// Catalogue: the parts that importers, cluster files and plans name, read from
// data/catalogue/*.yaml and from a user's own files over it. Every record is there twice: as a
// PartRecord with all its figures (unit, source, confidence), and, when an engine can use it, as a
// CataloguePart made from the same figures. The reader refuses a figure that has no source and
// confidence, and a switch whose printed capacity does not fit its ports. Format:
// docs/catalogue.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "fabric/classes.h"
#include "import/part_record.h"
#include "import/record_reader.h"

namespace weft::import {

struct CatalogueText {
  std::string file;
  std::string text;
  // A record of an overlay that has the name of an earlier one replaces the figures it states and
  // keeps the others; `FIELD: ~` takes one away.
  bool overlay = false;
};

// NVLinks a GPU model has in all (both 0 when none).
struct NvlinkPort {
  int links = 0;
  int generation = 0;
  friend bool operator==(NvlinkPort, NvlinkPort) = default;
};

// What engines need of one part; which fields count depends on the kind.
struct CataloguePart {
  fabric::DeviceClass device;
  std::string title;  // "NVIDIA H100 SXM5 80 GB"
  PcieWidth pcie;     // gpu, nic: what the part can do; 0 when it has none
  NvlinkPort nvlink;  // gpu
  // nic: link kinds its ports can run, the usual one first
  std::vector<fabric::LinkKind> speaks;
  // switch: ports at each port rate, fastest first
  std::vector<std::pair<BitRate, int>> ports;
  // cpu
  BitRate memory_bandwidth;  // of one socket
  std::string socket_link;   // name of an inter_socket link
  int socket_links = 0;      // of them between two sockets
  BitRate peer_rate;         // PCIe peer-to-peer traffic between two sockets
  Duration root_complex_latency;
};

class Catalogue {
 public:
  // Throws InputError with every fault of every file.
  explicit Catalogue(const std::vector<CatalogueText>& files);

  // nullptr when unknown; names() below gives candidates for "did you mean".
  [[nodiscard]] const CataloguePart* part(std::string_view model) const;
  [[nodiscard]] std::optional<fabric::DeviceClass> device(std::string_view model) const;
  // "ndr", "400gbe", "upi-16". NVLink and PCIe links are made by fabric/ from generation and width.
  [[nodiscard]] std::optional<fabric::LinkClass> link(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names(fabric::DeviceKind kind) const;
  [[nodiscard]] std::vector<std::string> link_names() const;
  // The network link of that kind and rate, by name; nullopt when the catalogue has none.
  [[nodiscard]] std::optional<std::string> network_link(fabric::LinkKind kind, BitRate rate) const;
  // Propagation along one metre of "fibre" or "copper"; nullopt when unknown.
  [[nodiscard]] std::optional<Duration> delay_per_metre(std::string_view medium) const;
  [[nodiscard]] std::vector<std::string> media() const;

  // Model by PCI vendor and device id (0x10de, 0x20b0 -> "a100-sxm4-40gb").
  [[nodiscard]] std::optional<std::string> model_of_pci(std::uint32_t vendor,
                                                        std::uint32_t device) const;
  [[nodiscard]] NvlinkPort nvlink_of(std::string_view gpu_model) const;

  // The CPU that CPUID names: of the given vendor and family, the highest generation that starts at
  // or below `model`. Falls back to the generic part of the architecture ("generic-x86_64").
  struct CpuId {
    fabric::Vendor vendor = fabric::Vendor::unknown;
    std::string architecture;  // "x86_64", "arm64", "ppc64"
    int family = 0, model = 0;
  };
  [[nodiscard]] std::string model_of_cpu(const CpuId& id) const;
  // What a CPU model brings along. REQUIRES part(cpu_model) to be a cpu.
  [[nodiscard]] fabric::DeviceClass host_bridge_of(std::string_view cpu_model) const;
  // Two sockets of that CPU to each other, all parallel links together, peer_rate filled in.
  // `links` overrides how many there are.
  [[nodiscard]] fabric::LinkClass socket_link_of(std::string_view cpu_model,
                                                 std::optional<int> links = {}) const;
  // CPU to its host bridges and memory: the memory bandwidth of one of `nodes_per_socket` nodes.
  [[nodiscard]] fabric::LinkClass on_die_link_of(std::string_view cpu_model,
                                                 int nodes_per_socket = 1) const;

  // Every record in the order of the files, links and media included.
  [[nodiscard]] const std::vector<PartRecord>& records() const { return records_; }
  // By name or alias; nullptr when unknown.
  [[nodiscard]] const PartRecord* record(std::string_view name) const;
  [[nodiscard]] std::vector<const PartRecord*> records_of(std::string_view section) const;
  [[nodiscard]] std::vector<std::string> record_names() const;  // without aliases

  // Every figure with its provenance, PCI ids too. source is the id; source_title tells what it
  // stands for.
  using Figure = PartFigure;
  [[nodiscard]] const std::vector<Figure>& figures() const { return figures_; }
  [[nodiscard]] const CatalogueSources& sources() const { return sources_; }
  [[nodiscard]] std::string_view source_title(std::string_view id) const;

 private:
  friend class CatalogueReader;
  std::vector<CataloguePart> parts_;
  std::map<std::string, std::size_t, std::less<>> part_index_;
  std::vector<std::pair<std::string, fabric::LinkClass>> links_;
  std::vector<std::pair<std::string, Duration>> media_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> pci_ids_;
  CatalogueSources sources_;
  std::vector<PartRecord> records_;
  std::map<std::string, std::size_t, std::less<>> record_index_;  // names and aliases
  std::vector<Figure> figures_;
};

}  // namespace weft::import
