// `nvidia-smi topo -m`: a server rebuilt from its matrix of path classes, such that its own matrix
// has the very same cells.
// Model: the cells are distances in the PCIe tree (PIX < PXB < PHB < NODE < SYS), so clusters of
// ever smaller distance are CPUs, host bridges, switch trees and switches; the tree with the fewest
// switches is drawn. NVLink cells hide the PCIe distance of their pair; where nothing else tells,
// GPUs of one affinity share a host bridge, each on a port of its own. Equal NV# among more than
// four GPUs, or more links than a GPU has, is NVSwitch; other NV# are direct links.
// Leaves out: everything the matrix does not say (models, speeds), which is assumed and told.
// Format: nvidia-smi documentation, "topo" command. Limits: docs/formats/nvidia_smi_topo.md.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "base/text.h"
#include "import/importer.h"
#include "import/server_sketch.h"
#include "import/topo_table.h"

namespace weft::import {

namespace {

using fabric::LinkKind;
using fabric::PathKind;
using Group = std::vector<std::size_t>;
using Kind = ServerSketch::Kind;
using Node = ServerSketch::Node;

constexpr int kMostNvlinks = 18;  // of any GPU up to Blackwell

class TopoRebuild {
 public:
  TopoRebuild(const Source& source, const ImportInputs& context)
      : source_(source), context_(context), table_(read_topo_table(source.text, source.file)) {}

  fabric::Fabric build() {
    check_tree();
    diagnostics_.throw_if_any(source_.text);
    nodes_.resize(table_.devices.size());
    for (const Group& cpu : merged(split(everyone(), PathKind::node), true)) add_cpu(cpu);
    say_shared_numa();
    say_renumbered();
    add_nvlinks();
    if (table_.nic_rows_missing) {
      sketch_.assume(
          "no NIC rows in the text: distances between NICs worked out from those to GPUs");
    }
    sketch_.assume(
        "PCIe tree rebuilt from the matrix with the fewest switches that give its cells");
    complete(sketch_, *context_.catalogue, context_.hints);
    return build_servers({sketch_}, *context_.catalogue);
  }

 private:
  [[nodiscard]] PathKind path(std::size_t a, std::size_t b) const {
    return table_.cells[a][b].path.kind;
  }
  [[nodiscard]] bool hidden(std::size_t a, std::size_t b) const {
    return path(a, b) == PathKind::nvlink;
  }

  [[nodiscard]] Group everyone() const {
    Group all(table_.devices.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
  }

  // Members joined by chains of known cells no farther than `limit`.
  [[nodiscard]] std::vector<Group> split(const Group& members, PathKind limit) const {
    std::vector<Group> groups;
    std::vector<bool> done(table_.devices.size(), false);
    for (const std::size_t first : members) {
      if (done[first]) continue;
      Group group;
      std::deque<std::size_t> open = {first};
      done[first] = true;
      while (!open.empty()) {
        const std::size_t at = open.front();
        open.pop_front();
        group.push_back(at);
        for (const std::size_t next : members) {
          if (done[next] || hidden(at, next) || path(at, next) > limit) continue;
          done[next] = true;
          open.push_back(next);
        }
      }
      std::sort(group.begin(), group.end());
      groups.push_back(std::move(group));
    }
    return groups;
  }

  [[nodiscard]] bool same_affinity(const Group& a, const Group& b) const {
    const TopoTable::Device* one = first_gpu(a);
    const TopoTable::Device* other = first_gpu(b);
    return one != nullptr && other != nullptr && one->cpu_affinity == other->cpu_affinity &&
           one->numa_affinity == other->numa_affinity;
  }

  [[nodiscard]] const TopoTable::Device* first_gpu(const Group& group) const {
    for (const std::size_t i : group) {
      if (table_.devices[i].gpu) return &table_.devices[i];
    }
    return nullptr;
  }

  // Groups between which every cell is hidden behind NVLink may be one.
  [[nodiscard]] std::vector<Group> merged(const std::vector<Group>& groups,
                                          bool by_affinity) const {
    std::vector<Group> out;
    for (const Group& group : groups) {
      const auto fits = [&](const Group& other) {
        if (by_affinity && !same_affinity(group, other)) return false;
        return std::all_of(group.begin(), group.end(), [&](std::size_t a) {
          return std::all_of(other.begin(), other.end(),
                             [&](std::size_t b) { return hidden(a, b); });
        });
      };
      const auto host = std::find_if(out.begin(), out.end(), fits);
      if (host == out.end()) {
        out.push_back(group);
      } else {
        host->insert(host->end(), group.begin(), group.end());
      }
    }
    return out;
  }

  // ---- contradictions: in a tree, two devices that are both near a third are near one another

  void check_tree() {
    for (const PathKind limit : {PathKind::pix, PathKind::pxb, PathKind::phb, PathKind::node}) {
      for (const Group& group : split(everyone(), limit)) check_group(group, limit);
      if (!diagnostics_.empty()) return;  // the wider clusters would say the same again
    }
  }

  void check_group(const Group& group, PathKind limit) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (std::size_t j = i + 1; j < group.size(); ++j) {
        if (!hidden(group[i], group[j]) && path(group[i], group[j]) > limit) {
          say_contradiction(group, group[i], group[j], limit);
          return;
        }
      }
    }
  }

  void say_contradiction(const Group& group, std::size_t a, std::size_t b, PathKind limit) {
    // One step of the chain that joins them; the nearest is the easiest to check by eye.
    std::size_t via = a;
    for (const std::size_t k : group) {
      if (k == a || k == b || hidden(a, k) || path(a, k) > limit) continue;
      via = k;
      if (!hidden(k, b) && path(k, b) <= limit) break;
    }
    const TopoTable::Cell& far = table_.cells[a][b];
    const TopoTable::Cell& near = table_.cells[a][via];
    const auto name = [&](std::size_t i) { return table_.devices[i].name; };
    diagnostics_.add(
        far.where,
        fmt::format(
            "cell {} - {} says {}, but {} - {} says {} (line {}, column {}) and {} - {} says {}",
            name(a), name(b), far.text, name(a), name(via), near.text, near.where.line,
            near.where.column, name(via), name(b), table_.cells[via][b].text),
        "no PCIe tree has these distances: one of the cells was changed");
  }

  // ---- the tree

  static std::optional<int> numa_of(const TopoTable::Device& gpu) {
    const auto number = parse_int(gpu.numa_affinity);
    if (!number || *number < 0 || *number > 32767) return std::nullopt;
    return static_cast<int>(*number);
  }

  void add_cpu(const Group& members) {
    ServerSketch::Cpu cpu;
    for (const std::size_t i : members) {
      const TopoTable::Device& device = table_.devices[i];
      if (!device.gpu) continue;
      if (cpu.cpu_affinity.empty() && device.cpu_affinity != "N/A") {
        cpu.cpu_affinity = device.cpu_affinity;
      }
      if (!cpu.numa) cpu.numa = numa_of(device);
      // Only GPUs whose memory is a NUMA node of the host have a number here: Grace superchips.
      if (parse_int(device.gpu_numa_id)) {
        cpu.vendor = fabric::Vendor::nvidia;
        cpu.architecture = "arm64";
        cpu.family = 8;
      }
    }
    sketch_.cpus.push_back(cpu);
    for (const Group& bridge : merged(split(members, PathKind::phb), false)) {
      sketch_.host_bridges.push_back({sketch_.cpus.size() - 1});
      for (const Group& tree : split(bridge, PathKind::pxb)) add_tree(tree);
    }
  }

  // Devices with no host bridge between them.
  void add_tree(const Group& members) {
    if (members.size() == 1) return add_device(members.front(), {});
    std::vector<Group> switches = merged(split(members, PathKind::pix), false);
    // The group with the most GPUs sits at the top, the others one switch below it.
    std::stable_sort(switches.begin(), switches.end(),
                     [&](const Group& a, const Group& b) { return gpus_in(a) > gpus_in(b); });
    const bool one_card = switches.size() == 1 && gpus_in(members) == 0;
    const std::size_t top = add_switch({}, one_card ? Kind::slot : Kind::pcie_switch);
    if (one_card) {
      sketch_.assume(
          "NICs that are PIX to each other and to no GPU: ports of one card, on one link");
    }
    for (std::size_t i = 0; i < switches.size(); ++i) {
      const std::size_t at = i == 0 ? top : add_switch(top, Kind::pcie_switch);
      for (const std::size_t device : switches[i]) add_device(device, at);
    }
  }

  [[nodiscard]] std::size_t gpus_in(const Group& group) const {
    return static_cast<std::size_t>(std::count_if(
        group.begin(), group.end(), [&](std::size_t i) { return table_.devices[i].gpu; }));
  }

  std::size_t add_switch(std::optional<std::size_t> parent, Kind kind) {
    Node node;
    node.kind = kind;
    node.host_bridge = sketch_.host_bridges.size() - 1;
    node.parent = parent;
    sketch_.nodes.push_back(std::move(node));
    return sketch_.nodes.size() - 1;
  }

  void add_device(std::size_t device, std::optional<std::size_t> parent) {
    const TopoTable::Device& d = table_.devices[device];
    Node node;
    node.kind = d.gpu ? Kind::gpu : Kind::nic;
    node.host_bridge = sketch_.host_bridges.size() - 1;
    node.parent = parent;
    node.rank = static_cast<int>(device);
    const auto label = [&](const char* key, const std::string& value) {
      if (!value.empty()) node.labels.emplace_back(key, value);
    };
    label("nic_name", d.nic_name);
    label("cpu_affinity", d.cpu_affinity);
    label("numa_affinity", d.numa_affinity);
    label("gpu_numa_id", d.gpu_numa_id);
    if (d.nic_name.starts_with("ib")) node.port_kind = LinkKind::infiniband;
    nodes_[device] = sketch_.nodes.size();
    sketch_.nodes.push_back(std::move(node));
    if (d.gpu && parse_int(d.gpu_numa_id)) add_c2c(nodes_[device]);
  }

  void add_c2c(std::size_t node) {
    sketch_.nodes[node].model = "gh200-96gb";
    sketch_.peers.push_back(
        {LinkKind::c2c, node, ServerSketch::End::cpu, sketch_.cpus.size() - 1, 1});
    sketch_.assume(
        "the GPU has a NUMA node of its own: taken as Grace Hopper (gh200-96gb) with NVLink-C2C to "
        "its CPU; GB200 shows the same");
  }

  void say_shared_numa() {
    std::map<int, int> cpus_of;
    for (const ServerSketch::Cpu& cpu : sketch_.cpus) {
      if (cpu.numa) ++cpus_of[*cpu.numa];
    }
    for (const auto& [numa, count] : cpus_of) {
      if (count < 2) continue;
      sketch_.assume(fmt::format(
          "NUMA node {} is drawn as {} CPUs, because the matrix says SYS between devices of it",
          numa, count));
    }
  }

  void say_renumbered() {
    std::size_t gpu = 0;
    for (const TopoTable::Device& device : table_.devices) {
      if (!device.gpu) continue;
      if (device.name != fmt::format("GPU{}", gpu)) {
        sketch_.assume(fmt::format("{} of the source is GPU{} here: GPUs count from 0 as listed",
                                   device.name, gpu));
      }
      ++gpu;
    }
  }

  // ---- NVLink

  void add_nvlinks() {
    sketch_.lists_peers = true;
    for (const Group& island : islands()) {
      if (island.size() < 2) continue;
      const int links = equal_links(island);
      const int peers = static_cast<int>(island.size()) - 1;
      const bool nvswitch = links > 0 && (peers > 3 || links * peers > kMostNvlinks);
      name_gpus(island, nvswitch, nvswitch ? links : most_links(island));
      if (nvswitch && !nvswitch_used_) {
        nvswitch_used_ = true;
        for (const std::size_t gpu : island) {
          join_to_nvswitch(sketch_, nodes_[gpu], links, *context_.catalogue, context_.hints);
        }
        sketch_.assume(
            fmt::format("NV{} between all {} GPUs: taken as NVSwitch", links, peers + 1));
      } else {
        add_direct(island);
      }
    }
  }

  void add_direct(const Group& island) {
    for (std::size_t i = 0; i < island.size(); ++i) {
      for (std::size_t j = i + 1; j < island.size(); ++j) {
        const std::size_t a = island[i], b = island[j];
        if (!hidden(a, b)) continue;
        sketch_.peers.push_back({LinkKind::nvlink, nodes_[a], ServerSketch::End::gpu, nodes_[b],
                                 table_.cells[a][b].path.nvlinks});
      }
    }
  }

  // GPUs joined by chains of NVLinks.
  [[nodiscard]] std::vector<Group> islands() const {
    std::vector<Group> out;
    std::vector<bool> done(table_.devices.size(), false);
    for (std::size_t first = 0; first < done.size(); ++first) {
      if (done[first] || !table_.devices[first].gpu) continue;
      Group island = {first};
      done[first] = true;
      for (std::size_t k = 0; k < island.size(); ++k) {
        for (std::size_t next = 0; next < done.size(); ++next) {
          if (done[next] || !hidden(island[k], next)) continue;
          done[next] = true;
          island.push_back(next);
        }
      }
      std::sort(island.begin(), island.end());
      out.push_back(std::move(island));
    }
    return out;
  }

  // The count that all pairs have; 0 when they differ or a pair has none.
  [[nodiscard]] int equal_links(const Group& island) const {
    const int links = table_.cells[island[0]][island[1]].path.nvlinks;
    for (const std::size_t a : island) {
      for (const std::size_t b : island) {
        if (a != b && table_.cells[a][b].path.nvlinks != links) return 0;
      }
    }
    return links;
  }

  [[nodiscard]] int most_links(const Group& island) const {
    int most = 0;
    for (const std::size_t a : island) {
      int links = 0;
      for (const std::size_t b : island) links += a == b ? 0 : table_.cells[a][b].path.nvlinks;
      most = std::max(most, links);
    }
    return most;
  }

  void name_gpus(const Group& island, bool nvswitch, int links) {
    if (context_.hints == nullptr) return;
    for (const ServerHints::ByNvlinks& by : context_.hints->by_nvlinks) {
      if (by.nvswitch != nvswitch || by.links != links) continue;
      if (by.gpus != 0 && by.gpus != static_cast<int>(island.size())) continue;
      for (const std::size_t gpu : island) {
        Node& node = sketch_.nodes[nodes_[gpu]];
        if (node.model.empty()) node.model = by.model;
      }
      sketch_.assume(
          fmt::format("GPU model not in the matrix: taken as {} because it has {} NVLinks{}{}",
                      by.model, links, by.remark.empty() ? "" : "; ", by.remark));
      return;
    }
  }

  const Source& source_;
  const ImportInputs& context_;
  TopoTable table_;
  Diagnostics diagnostics_;
  ServerSketch sketch_;
  std::vector<std::size_t> nodes_;  // node of each device
  bool nvswitch_used_ = false;
};

class NvidiaSmiTopo final : public Importer {
 public:
  [[nodiscard]] std::string_view name() const override { return "nvidia_smi_topo"; }
  [[nodiscard]] std::string_view summary() const override {
    return "the matrix that nvidia-smi topo -m prints";
  }
  [[nodiscard]] bool recognises(const Source& source) const override {
    return looks_like_topo_table(source.text);
  }
  [[nodiscard]] fabric::Fabric read(const Source& source,
                                    const ImportInputs& context) const override {
    return TopoRebuild(source, context).build();
  }
};

}  // namespace

const Importer& nvidia_smi_topo_importer() {
  static const NvidiaSmiTopo kImporter;
  return kImporter;
}

}  // namespace weft::import
