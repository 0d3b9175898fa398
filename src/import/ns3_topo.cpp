// Importer row `ns3_topo`: the topology text of SimAI and of ASTRA-sim's ns-3 back end. Line 1:
// `nodes gpus_per_server nvswitches switches links GPU_TYPE` (SimAI) or `nodes switches links`;
// line 2: ids of NVSwitches and switches; then `from to rate delay error` for every link.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "import/network_dump.h"

namespace weft::import {
namespace {

struct Line {
  int number = 0;
  std::vector<std::string_view> cells;
};

// Blank lines dropped; numbers kept for messages.
std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    std::vector<std::string_view> cells = split_whitespace(line);
    if (!cells.empty()) lines.push_back({number, std::move(cells)});
  }
  return lines;
}

bool whole(std::string_view cell) {
  return parse_int(cell).has_value();
}

// Counts in front, and a third line with a rate: nothing else looks so.
bool looks_so(const std::vector<Line>& lines) {
  if (lines.size() < 3) return false;
  const auto& head = lines[0].cells;
  const std::size_t counts = head.size() == 6 ? 5 : 3;
  if (head.size() != 6 && head.size() != 3) return false;
  return std::all_of(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(counts), whole) &&
         lines[2].cells.size() >= 4 && parse_bit_rate(lines[2].cells[2]).has_value();
}

class TopoReader {
 public:
  TopoReader(const Source& source, const ImportInputs& inputs)
      : file_(source.file), inputs_(&inputs), lines_(lines_of(source.text)) {}

  NetworkDump read(std::string_view text) {
    if (!looks_so(lines_))
      throw InputError({file_, 1, 1}, "this is no topology text of SimAI or ns-3",
                       "line 1 holds counts, line 2 the ids of switches, then come links");
    read_head();
    diagnostics_.throw_if_any(text);
    name_devices();
    for (std::size_t l = 2; l < lines_.size(); ++l) read_link(lines_[l]);
    if (lines_.size() - 2 != static_cast<std::size_t>(links_))
      complain(lines_[0],
               fmt::format("{} links are announced, {} follow", links_, lines_.size() - 2));
    for (const NetworkDump::Host& host : dump_.hosts)
      if (host.nics.empty())
        complain(lines_[0], fmt::format("{} has no link to a switch of the network", host.name));
    diagnostics_.throw_if_any(text);
    return std::move(dump_);
  }

 private:
  void complain(const Line& line, std::string what, std::string hint = {}) {
    diagnostics_.add({file_, line.number, 1}, std::move(what), std::move(hint));
  }

  void read_head() {
    const auto& head = lines_[0].cells;
    const auto count = [&](std::size_t index) { return *parse_int(head[index]); };
    nodes_ = count(0);
    simai_ = head.size() == 6;
    per_server_ = simai_ ? count(1) : 1;
    nvswitches_ = simai_ ? count(2) : 0;
    links_ = count(simai_ ? 4 : 2);
    if (simai_) gpu_type_ = std::string(head[5]);
    const std::int64_t switches = nvswitches_ + count(simai_ ? 3 : 1);
    // Every node ends a link: a count beyond that is a mistake, not a reason to make room.
    const auto most = static_cast<std::int64_t>(2 * lines_.size());
    if (nodes_ < 2 || nodes_ > most || per_server_ < 1 || nvswitches_ < 0 || links_ < 1 ||
        switches < 1 || switches >= nodes_) {
      complain(lines_[0], "these counts describe no network", "nodes, then switches, then links");
      return;
    }
    if (static_cast<std::int64_t>(lines_[1].cells.size()) != switches)
      complain(lines_[1], fmt::format("{} ids of switches, {} are announced",
                                      lines_[1].cells.size(), switches));
    for (const std::string_view cell : lines_[1].cells) {
      const auto id = parse_int(cell);
      if (!id || *id < 0 || *id >= nodes_)
        complain(lines_[1], fmt::format("no node '{}'", cell));
      else
        is_switch_[*id] = static_cast<std::int64_t>(is_switch_.size()) < nvswitches_;
    }
  }

  void name_devices() {
    for (std::int64_t id = 0, gpu = 0; id < nodes_; ++id) {
      const auto found = is_switch_.find(id);
      if (found == is_switch_.end()) {
        host_of_[id] = static_cast<std::size_t>(gpu / per_server_);
        if (gpu++ % per_server_ == 0) {
          NetworkDump::Host host;
          host.name = fmt::format("node{}", dump_.hosts.size());
          host.gpus = true;
          dump_.hosts.push_back(std::move(host));
        }
      } else if (!found->second) {
        NetworkDump::Switch device;
        device.name = fmt::format("switch{}", id);
        switch_of_[id] = dump_.switches.size();
        dump_.switches.push_back(std::move(device));
      }
    }
    if (!gpu_type_.empty())
      dump_.assumptions.push_back(
          fmt::format("the GPUs are called {}; --server says what a host is", gpu_type_));
  }

  void read_link(const Line& line) {
    if (line.cells.size() < 4) {
      complain(line, "a link is: from to rate delay error", "0 64 400Gbps 0.0005ms 0");
      return;
    }
    const auto from = parse_int(line.cells[0]), to = parse_int(line.cells[1]);
    const auto rate = parse_bit_rate(line.cells[2]);
    const auto delay = parse_duration(line.cells[3]);
    for (const auto& end : {from, to})
      if (!end || *end < 0 || *end >= nodes_)
        return complain(line, "an end of the link is no node");
    if (!rate || rate->bps() <= 0) return complain(line, "the rate is no rate", "write 400Gbps");
    if (!delay) return complain(line, "the delay is no time", "write 0.0005ms");
    connect(line, *from, *to, *rate, *delay);
  }

  void connect(const Line& line, std::int64_t a, std::int64_t b, BitRate rate, Duration delay) {
    if (is_nvswitch(a) || is_nvswitch(b)) {
      const std::int64_t gpu = is_nvswitch(a) ? b : a;
      if (!host_of_.contains(gpu))
        return complain(line, "an NVSwitch joins GPUs of one server only");
      fabric::LinkClass link;
      link.kind = fabric::LinkKind::nvlink;
      link.name = "nvlink";
      link.raw_rate = rate;
      link.latency = delay;
      dump_.hosts[host_of_[gpu]].scale_up = link;
      return;
    }
    if (!switch_of_.contains(a) && !switch_of_.contains(b))
      return complain(line, "the link joins two GPUs without a switch",
                      "Weft reads networks in which GPUs meet at switches");
    NetworkDump::Cable cable;
    cable.link = network_link(*inputs_->catalogue, fabric::LinkKind::ethernet, rate);
    cable.link.latency = delay;
    cable.a = end_of(a, rate);
    cable.b = end_of(b, rate);
    dump_.cables.push_back(std::move(cable));
  }

  // A GPU's links to switches are the ports of a NIC of its server.
  NetworkDump::End end_of(std::int64_t id, BitRate rate) {
    NetworkDump::End end;
    if (const auto found = switch_of_.find(id); found != switch_of_.end()) {
      end.device = found->second;
      return end;
    }
    NetworkDump::Host& host = dump_.hosts[host_of_[id]];
    end.on_switch = false;
    end.device = host_of_[id];
    const auto [found_nic, first] = nic_of_.try_emplace(id, host.nics.size());
    if (first) {
      NetworkDump::Nic nic;
      nic.rate = rate;
      host.nics.push_back(std::move(nic));
    } else {
      ++host.nics[found_nic->second].ports;  // dual top-of-rack: the same NIC's next port
    }
    end.nic = found_nic->second;
    end.port = host.nics[end.nic].ports;
    return end;
  }

  [[nodiscard]] bool is_nvswitch(std::int64_t id) const {
    const auto found = is_switch_.find(id);
    return found != is_switch_.end() && found->second;
  }

  std::string file_;
  const ImportInputs* inputs_;
  std::vector<Line> lines_;
  Diagnostics diagnostics_;
  NetworkDump dump_;
  std::int64_t nodes_ = 0, per_server_ = 1, nvswitches_ = 0, links_ = 0;
  bool simai_ = false;
  std::string gpu_type_;
  std::map<std::int64_t, bool> is_switch_;  // id -> it is an NVSwitch
  std::map<std::int64_t, std::size_t> host_of_, switch_of_, nic_of_;
};

class Ns3Topo final : public Importer {
 public:
  [[nodiscard]] std::string_view name() const override { return "ns3_topo"; }
  [[nodiscard]] std::string_view summary() const override {
    return "topology text of SimAI and of ASTRA-sim's ns-3 back end";
  }
  [[nodiscard]] bool recognises(const Source& source) const override {
    return looks_so(lines_of(source.text.substr(0, 1 << 16)));
  }
  [[nodiscard]] fabric::Fabric read(const Source& source,
                                    const ImportInputs& inputs) const override {
    return build_network(TopoReader(source, inputs).read(source.text), inputs);
  }
};

}  // namespace

const Importer& ns3_topo_importer() {
  static const Ns3Topo kImporter;
  return kImporter;
}

}  // namespace weft::import
