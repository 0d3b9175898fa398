// complete(): what a dump leaves out, filled in step by step; each step says what it took and why.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "base/text.h"
#include "fabric/pcie.h"
#include "import/server_sketch.h"

namespace weft::import {

namespace {

using fabric::DeviceKind;
using fabric::LinkKind;
using Kind = ServerSketch::Kind;
using Node = ServerSketch::Node;

constexpr PciSpeed kUsualLink{4, 16};  // when neither the source nor the catalogue knows
constexpr std::string_view kHowToSay =
    "name the model in a server file, or dump with NCCL_TOPO_DUMP_FILE on the machine itself";

PciSpeed catalogue_link(const Catalogue& catalogue, std::string_view model) {
  const CataloguePart* part = model.empty() ? nullptr : catalogue.part(model);
  if (part == nullptr) return {};
  return {part->pcie.generation, part->pcie.lanes};
}

std::string speed_text(PciSpeed speed) {
  return fmt::format("PCIe {} x{}", speed.generation, speed.lanes);
}

class Completer {
 public:
  Completer(ServerSketch& sketch, const Catalogue& catalogue, const ServerHints& hints)
      : sketch_(sketch), catalogue_(catalogue), hints_(hints) {}

  void run() {
    name_by_pci_id();
    const ServerFingerprint* server = recognise();
    if (server != nullptr) name_by_server(*server);
    name_by_number();
    wire(server);
    fill_speeds(server);
    fill_port_rates();
    say_unknown_models();
  }

 private:
  void name_by_pci_id() {
    for (Node& node : sketch_.nodes) {
      if (!node.model.empty() || node.vendor_id == 0) continue;
      node.model = catalogue_.model_of_pci(node.vendor_id, node.device_id).value_or("");
    }
  }

  [[nodiscard]] std::vector<std::string> addresses(Kind kind) const {
    std::vector<std::string> out;
    for (const std::size_t i : sketch_.of_kind(kind)) {
      for (const auto& [key, value] : sketch_.nodes[i].labels) {
        if (key == "bus_id") out.push_back(value);
      }
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  [[nodiscard]] bool matches(const ServerFingerprint& server, const std::string& shape) const {
    if (!server.shape.empty() && server.shape != shape) return false;
    const ServerSketch::Cpu& cpu = sketch_.cpus.front();
    if (server.cpu_vendor != fabric::Vendor::unknown && server.cpu_vendor != cpu.vendor) {
      return false;
    }
    if (server.cpu_family && *server.cpu_family != cpu.family) return false;
    if (server.cpu_model && *server.cpu_model != cpu.model) return false;
    const auto same = [](std::vector<std::string> expected, const std::vector<std::string>& found) {
      std::sort(expected.begin(), expected.end());
      return expected.empty() || expected == found;
    };
    return same(server.gpu_addresses, addresses(Kind::gpu)) &&
           same(server.nic_addresses, addresses(Kind::nic));
  }

  // A fingerprint is asked only when models are missing: a file that names its parts is believed.
  const ServerFingerprint* recognise() {
    const bool complete =
        std::none_of(sketch_.nodes.begin(), sketch_.nodes.end(), [](const Node& node) {
          return (node.kind == Kind::gpu && node.model.empty() && node.compute_capability == 0) ||
                 (node.kind == Kind::nic && node.model.empty());
        });
    if (complete || sketch_.cpus.empty()) return nullptr;
    const std::string shape = shape_of(sketch_);
    for (const ServerFingerprint& server : hints_.servers) {
      if (matches(server, shape)) return &server;
    }
    return nullptr;
  }

  void name_by_server(const ServerFingerprint& server) {
    const auto name_all = [&](Kind kind, const std::string& model, std::string_view what) {
      if (model.empty()) return;
      bool any = false;
      for (const std::size_t i : sketch_.of_kind(kind)) {
        if (!sketch_.nodes[i].model.empty() || sketch_.nodes[i].compute_capability != 0) continue;
        sketch_.nodes[i].model = model;
        any = true;
      }
      if (!any) return;
      sketch_.assume(
          fmt::format("{} model not in the file: taken as {} because the tree matches {}", what,
                      model, server.title));
    };
    name_all(Kind::gpu, server.gpu, "GPU");
    name_all(Kind::nic, server.nic, "NIC");
  }

  [[nodiscard]] bool has_peers(std::size_t node) const {
    return std::any_of(
        sketch_.peers.begin(), sketch_.peers.end(), [node](const ServerSketch::Peers& peers) {
          return peers.gpu == node || (peers.end == ServerSketch::End::gpu && peers.other == node);
        });
  }

  void name_by_number() {
    for (const std::size_t i : sketch_.of_kind(Kind::gpu)) {
      Node& node = sketch_.nodes[i];
      if (!node.model.empty() || node.compute_capability == 0) continue;
      // Compute capabilities have two or three digits below 200, AMD graphics numbers start at 600.
      const auto vendor =
          node.compute_capability < 600 ? fabric::Vendor::nvidia : fabric::Vendor::amd;
      const bool peers = has_peers(i);
      for (const ServerHints::ByNumber& by : hints_.by_number) {
        if (by.vendor != vendor || by.number != node.compute_capability) continue;
        if (by.has_peers && !peers) continue;
        node.model = by.model;
        sketch_.assume(fmt::format(
            "GPU model not in the file: taken as {} because its {} is {}{}", by.model,
            vendor == fabric::Vendor::amd ? "graphics number (gcn)" : "compute capability (sm)",
            node.compute_capability, peers ? " and it has scale-up links" : ""));
        break;
      }
    }
  }

  void wire(const ServerFingerprint* server) {
    const auto gpus = sketch_.of_kind(Kind::gpu);
    if (sketch_.lists_peers || !sketch_.peers.empty() || gpus.size() < 2) return;
    if (server != nullptr && server->wiring) {
      apply(*server->wiring, gpus, "the tree matches " + server->title);
      return;
    }
    const std::string& model = sketch_.nodes[gpus.front()].model;
    for (const std::size_t gpu : gpus) {
      if (sketch_.nodes[gpu].model != model) return;
    }
    for (const ServerHints::UsualWiring& usual : hints_.wirings) {
      if (usual.gpus != static_cast<int>(gpus.size())) continue;
      if (!model.starts_with(usual.model_prefix)) continue;
      apply(usual.wiring, gpus,
            fmt::format("{} {} in one server are wired so", gpus.size(), model));
      return;
    }
    if (catalogue_.nvlink_of(model).links > 0) {
      sketch_.assume(fmt::format(
          "NVLinks not in the file and no usual wiring of {} {} is known: none drawn; {}",
          gpus.size(), model, kHowToSay));
    }
  }

  void apply(const NvlinkWiring& wiring, const std::vector<std::size_t>& gpus,
             const std::string& why) {
    if (wiring.kind == NvlinkWiring::Kind::none) return;
    sketch_.assume(
        fmt::format("NVLink wiring not in the file: taken as {} because {}", wiring.name, why));
    if (wiring.kind == NvlinkWiring::Kind::nvswitch) {
      for (const std::size_t gpu : gpus) {
        const int links = catalogue_.nvlink_of(sketch_.nodes[gpu].model).links;
        if (links > 0) join_to_nvswitch(sketch_, gpu, links, catalogue_, &hints_);
      }
      return;
    }
    for (const GpuPair& pair : wiring.pairs) {
      const auto a = static_cast<std::size_t>(pair.a);
      const auto b = static_cast<std::size_t>(pair.b);
      if (a >= gpus.size() || b >= gpus.size()) continue;
      sketch_.peers.push_back(
          {LinkKind::nvlink, gpus[a], ServerSketch::End::gpu, gpus[b], pair.links});
    }
  }

  // Devices first, then switches from the fastest link below them.
  void fill_speeds(const ServerFingerprint* server) {
    std::set<std::string> said;
    for (Node& node : sketch_.nodes) {
      if (node.kind == Kind::pcie_switch || node.kind == Kind::slot) continue;
      if (node.link.generation != 0 && node.link.lanes != 0) continue;
      PciSpeed usual = catalogue_link(catalogue_, node.model);
      std::string why = "that is what " + node.model + " has";
      if (usual.generation == 0) {
        usual = kUsualLink;
        why = "nothing else is known";
      }
      if (server != nullptr && server->pcie_generation) {
        usual.generation = *server->pcie_generation;
        why = "the tree matches " + server->title;
      }
      if (node.link.generation == 0) node.link.generation = usual.generation;
      if (node.link.lanes == 0) node.link.lanes = usual.lanes;
      said.insert(fmt::format("PCIe speed of {} not in the source: taken as {} because {}",
                              node.kind == Kind::gpu ? "GPUs" : "NICs", speed_text(node.link),
                              why));
    }
    for (std::size_t pass = 0; pass < sketch_.nodes.size(); ++pass) {
      if (!fill_switch_speeds(said)) break;
    }
    for (const std::string& text : said) sketch_.assume(text);
  }

  bool fill_switch_speeds(std::set<std::string>& said) {
    bool changed = false;
    // Backwards: what is below mostly has the higher index, so one pass does for a chain.
    for (std::size_t i = sketch_.nodes.size(); i-- > 0;) {
      Node& node = sketch_.nodes[i];
      if (node.link.generation != 0 && node.link.lanes != 0) continue;
      PciSpeed widest;
      bool ready = true;
      for (const Node& child : sketch_.nodes) {
        if (child.parent != i) continue;
        if (child.link.generation == 0 || child.link.lanes == 0) ready = false;
        widest.generation = std::max(widest.generation, child.link.generation);
        widest.lanes = std::max(widest.lanes, child.link.lanes);
      }
      if (!ready) continue;
      if (widest.generation == 0) widest = kUsualLink;  // a switch with nothing below
      if (node.link.generation == 0) node.link.generation = widest.generation;
      if (node.link.lanes == 0) node.link.lanes = widest.lanes;
      changed = true;
      if (node.kind == Kind::pcie_switch) {
        said.insert(
            fmt::format("PCIe speed of a switch's uplink not in the source: taken as {}, the "
                        "fastest link below",
                        speed_text(node.link)));
      }
    }
    return changed;
  }

  void fill_port_rates() {
    constexpr std::array<std::int64_t, 8> kRates = {800, 400, 200, 100, 50, 25, 10, 1};
    std::set<std::string> said;
    for (Node& node : sketch_.nodes) {
      if (node.kind != Kind::nic || node.port_rate.bps() > 0) continue;
      if (!node.model.empty()) {
        if (const auto known = catalogue_.device(node.model); known && known->port_rate.bps() > 0) {
          node.port_rate = known->port_rate;
          said.insert(fmt::format("port rate of NICs not in the source: taken as {}, that of {}",
                                  to_text(node.port_rate), node.model));
          continue;
        }
      }
      const BitRate pcie = fabric::pcie_link_class(node.link.generation, node.link.lanes).raw_rate;
      for (const std::int64_t gbps : kRates) {
        node.port_rate = BitRate::gigabits_per_second(gbps);
        if (node.port_rate <= pcie) break;
      }
      said.insert(
          fmt::format("port rate of NICs not in the source: taken as {}, the fastest that {} feeds",
                      to_text(node.port_rate), speed_text(node.link)));
    }
    for (const std::string& text : said) sketch_.assume(text);
  }

  void say_unknown_models() {
    std::size_t gpus = 0, nics = 0;
    for (const Node& node : sketch_.nodes) {
      if (!node.model.empty()) continue;
      gpus += node.kind == Kind::gpu ? 1 : 0;
      nics += node.kind == Kind::nic ? 1 : 0;
    }
    if (gpus > 0) {
      sketch_.assume(
          fmt::format("model of {} GPU(s) not in the source and no known server matches: unknown "
                      "model, reached "
                      "over PCIe{}; {}",
                      gpus, sketch_.peers.empty() ? " only" : "", kHowToSay));
    }
    if (nics > 0) {
      sketch_.assume(fmt::format("model of {} NIC(s) not in the source: a generic adapter", nics));
    }
  }

  ServerSketch& sketch_;
  const Catalogue& catalogue_;
  const ServerHints& hints_;
};

}  // namespace

void join_to_nvswitch(ServerSketch& sketch, std::size_t gpu, int links, const Catalogue& catalogue,
                      const ServerHints* hints) {
  const int generation = catalogue.nvlink_of(sketch.nodes[gpu].model).generation;
  std::vector<int> chips = {links};
  for (const ServerHints::Chips& row :
       hints == nullptr ? std::vector<ServerHints::Chips>() : hints->chips) {
    if (row.generation != generation) continue;
    if (std::accumulate(row.links.begin(), row.links.end(), 0) == links) chips = row.links;
  }
  for (std::size_t chip = 0; chip < chips.size(); ++chip) {
    sketch.peers.push_back({LinkKind::nvlink, gpu, ServerSketch::End::nvswitch, chip, chips[chip]});
  }
}

void complete(ServerSketch& sketch, const Catalogue& catalogue, const ServerHints* hints) {
  static const ServerHints kNone;
  Completer(sketch, catalogue, hints == nullptr ? kNone : *hints).run();
}

}  // namespace weft::import
