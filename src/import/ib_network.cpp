#include "import/ib_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/check.h"
#include "base/text.h"

namespace weft::import {

namespace {

using fabric::LinkKind;
using Kind = IbDump::Kind;
using Node = IbDump::Node;

constexpr std::string_view kAggregation = "Aggregation Node";  // NVIDIA SHARP, inside a switch

// "node1 mlx5_0" -> node1, mlx5_0. Empty host when the description names none.
struct AdapterName {
  std::string host, device;
  std::optional<int> number;  // from 0
};

std::optional<int> device_number(std::string_view device) {
  struct Form {
    std::string_view prefix;
    int first;
  };
  static constexpr Form kForms[] = {{"mlx5_", 0}, {"mlx4_", 0}, {"HCA-", 1},  {"nic", 0},
                                    {"qib", 0},   {"hfi1_", 0}, {"mthca", 0}, {"ib", 0}};
  for (const Form& form : kForms) {
    if (!starts_with(device, form.prefix)) continue;
    const auto number = parse_int(device.substr(form.prefix.size()));
    if (number && *number >= form.first && *number < 4096)
      return static_cast<int>(*number) - form.first;
  }
  return std::nullopt;
}

AdapterName adapter_name(std::string_view description) {
  const std::string_view text = trim(description);
  const std::size_t cut = text.find_last_of(" /");
  AdapterName name;
  if (cut == std::string_view::npos) {
    if (text.find_first_of("\"'") == std::string_view::npos) name.host = text;
    return name;
  }
  const std::string_view device = text.substr(cut + 1);
  name.number = device_number(device);
  if (!name.number) return {};
  name.host = trim(text.substr(0, cut));
  name.device = device;
  return name;
}

// "MF0;leaf1:MQM9701/U1" -> leaf1
std::string switch_name(std::string_view description) {
  std::string_view text = trim(description);
  const std::size_t semicolon = text.find(';'), colon = text.rfind(':');
  if (starts_with(text, "MF0") && semicolon != text.npos && colon != text.npos && colon > semicolon)
    text = text.substr(semicolon + 1, colon - semicolon - 1);
  return std::string(text);
}

// Names stand in tables, those of hosts before "/": no blanks and control characters in them.
std::string clean(std::string_view text, bool keep_slashes = false) {
  std::string out;
  for (const char c : trim(text)) {
    const bool slash = c == '/' && !keep_slashes;
    const bool plain = static_cast<unsigned char>(c) > ' ' && !slash && c != '"' && c != 0x7f;
    out += plain ? c : '_';
  }
  return out;
}

class Network {
 public:
  Network(const IbDump& dump, const Catalogue& catalogue) : dump_(dump), catalogue_(catalogue) {}

  NetworkDump build() && {
    place_.resize(dump_.nodes.size());
    for (std::size_t n = 0; n < dump_.nodes.size(); ++n) {
      if (dump_.nodes[n].kind != Kind::adapter) add_switch(n);
    }
    group_adapters();
    part_from_hosts();
    for (std::size_t n = 0; n < dump_.nodes.size(); ++n) add_cables(n);
    say_what_was_assumed();
    return std::move(out_);
  }

 private:
  struct Place {
    bool used = false;
    NetworkDump::End end;
  };

  // Never empty: an id of blanks alone cleans to nothing.
  std::string unique(const std::string& wanted, const std::string& id) {
    std::string name = wanted;
    if (name.empty() || !names_.insert(name).second) {
      name = wanted.empty() ? clean(id) : wanted + "." + clean(id);
      while (name.empty() || !names_.insert(name).second) name += "_";
    }
    return name;
  }

  // Two switches of one description (unmanaged ones all have the model's) go by their ids.
  void add_switch(std::size_t n) {
    const Node& node = dump_.nodes[n];
    NetworkDump::Switch s;
    std::string text =
        clean(switch_name(node.description.empty() ? node.id : node.description), true);
    const bool common = std::count_if(dump_.nodes.begin(), dump_.nodes.end(), [&](const Node& o) {
                          return o.kind != Kind::adapter && o.description == node.description;
                        }) > 1;
    if (common && !node.description.empty()) text.clear();
    s.name = unique(text, node.id);
    s.radix = node.ports;
    s.gateway = node.kind == Kind::router;
    if (node.vendor_id != 0) {
      // Dumps give the OUI of Mellanox (0x2c9) where PCI has its vendor id.
      const std::uint32_t vendor = node.vendor_id == 0x2c9 ? 0x15b3 : node.vendor_id;
      s.model = catalogue_.model_of_pci(vendor, node.device_id).value_or("");
    }
    s.labels = {{"id", node.id}};
    if (!node.description.empty()) s.labels.emplace_back("description", node.description);
    if (node.lid != 0) s.labels.emplace_back("lid", std::to_string(node.lid));
    place_[n] = {true, {true, out_.switches.size(), 0, 0}};
    out_.switches.push_back(std::move(s));
  }

  // "pod0/leaf0" may be a switch unless pod0 is a host, whose devices bear such names.
  void part_from_hosts() {
    std::set<std::string, std::less<>> hosts;
    for (const NetworkDump::Host& host : out_.hosts) hosts.insert(host.name);
    for (NetworkDump::Switch& s : out_.switches) {
      const std::string_view name = s.name;
      if (name.find('/') == name.npos || !hosts.contains(name.substr(0, name.find('/')))) continue;
      s.name = unique(clean(s.name), s.labels.front().second);
    }
  }

  void group_adapters() {
    struct Adapter {
      std::size_t node;
      AdapterName name;
    };
    std::map<std::string, std::vector<Adapter>> hosts;
    for (std::size_t n = 0; n < dump_.nodes.size(); ++n) {
      const Node& node = dump_.nodes[n];
      if (node.kind != Kind::adapter) continue;
      if (node.description.find(kAggregation) != std::string::npos) {
        ++aggregation_nodes_;
        for (const auto& [number, port] : node.cabled) {
          if (place_[port.peer].used)
            out_.switches[place_[port.peer].end.device].labels.emplace_back("sharp", "yes");
        }
        continue;
      }
      if (node.cabled.empty()) {
        ++idle_;
        continue;
      }
      AdapterName name = adapter_name(node.description.empty() ? node.id : node.description);
      std::string host = clean(name.host);
      if (host.empty()) {
        host = clean(node.id);
        ++nameless_;
      }
      hosts[host].push_back({n, std::move(name)});
    }
    std::vector<std::string> order;
    for (const auto& [host, adapters] : hosts) order.push_back(host);
    std::sort(order.begin(), order.end(), natural_less);
    for (const std::string& host : order) {
      auto& adapters = hosts[host];
      std::stable_sort(adapters.begin(), adapters.end(), [](const Adapter& a, const Adapter& b) {
        return a.name.number.value_or(INT32_MAX) < b.name.number.value_or(INT32_MAX);
      });
      NetworkDump::Host h;
      h.name = unique(host, dump_.nodes[adapters.front().node].id);
      for (const Adapter& adapter : adapters) {
        place_[adapter.node] = {true, {false, out_.hosts.size(), h.nics.size(), 0}};
        h.nics.push_back(nic_of(dump_.nodes[adapter.node], adapter.name));
      }
      out_.hosts.push_back(std::move(h));
    }
  }

  static NetworkDump::Nic nic_of(const Node& node, const AdapterName& name) {
    NetworkDump::Nic nic;
    nic.name = name.device;
    nic.ports = std::max(1, static_cast<int>(node.cabled.size()));
    nic.labels = {{"id", node.id}};
    if (name.number) nic.labels.emplace_back("rail", std::to_string(*name.number));
    return nic;
  }

  void add_cables(std::size_t n) {
    if (!place_[n].used) return;
    for (const auto& [number, port] : dump_.nodes[n].cabled) {
      if (!place_[port.peer].used ||
          std::make_pair(port.peer, port.peer_port) < std::make_pair(n, number))
        continue;
      NetworkDump::Cable cable;
      cable.a = place_[n].end;
      cable.b = place_[port.peer].end;
      cable.a.port = number;
      cable.b.port = port.peer_port;
      if (!cable.a.on_switch && !cable.b.on_switch) ++back_to_back_;
      cable.link = link_of(port, dump_.nodes[port.peer].cabled);
      out_.cables.push_back(std::move(cable));
    }
  }

  fabric::LinkClass link_of(const IbDump::Port& port, const std::map<int, IbDump::Port>& peers) {
    std::optional<BitRate> rate;
    const IbDump::Port* told = nullptr;
    const auto back = peers.find(port.peer_port);
    for (const IbDump::Port* end : {&port, back == peers.end() ? nullptr : &back->second}) {
      if (end == nullptr || end->width == 0) continue;
      const auto here = ib_rate(end->width, end->speed);
      if (!here) continue;
      if (rate && *rate != *here) ++unequal_;
      if (rate && *rate <= *here) continue;
      rate = here;
      told = end;
    }
    if (told == nullptr) {
      ++untold_;
      return network_link(catalogue_, LinkKind::infiniband, BitRate::gigabits_per_second(400));
    }
    fabric::LinkClass link = network_link(catalogue_, LinkKind::infiniband, *rate);
    link.name = fmt::format("{}x{}", told->width, told->speed);
    return link;
  }

  void say(std::size_t count, std::string_view one, std::string_view many) {
    if (count > 0) out_.assumptions.push_back(fmt::format("{} {}", count, count == 1 ? one : many));
  }

  void say_what_was_assumed() {
    say(untold_, "cable without width and speed: taken as 400 Gbps",
        "cables without width and speed: taken as 400 Gbps");
    say(unequal_, "cable with different speeds at its ends: the lower is taken",
        "cables with different speeds at their ends: the lower is taken");
    say(nameless_, "adapter names no host: drawn as a host of its own",
        "adapters name no host: each is drawn as a host of its own");
    say(aggregation_nodes_, "SHARP aggregation node left out (a port inside its switch)",
        "SHARP aggregation nodes left out (ports inside their switches)");
    say(idle_, "adapter without a cable left out", "adapters without a cable left out");
    say(dump_.unconnected, "port without a cable", "ports without a cable");
    say(back_to_back_, "cable joins two hosts directly", "cables join two hosts directly");
  }

  const IbDump& dump_;
  const Catalogue& catalogue_;
  NetworkDump out_;
  std::vector<Place> place_;
  std::set<std::string> names_;
  std::size_t untold_ = 0, unequal_ = 0, nameless_ = 0, aggregation_nodes_ = 0, idle_ = 0,
              back_to_back_ = 0;
};

}  // namespace

NetworkDump network_of(const IbDump& dump, const Catalogue& catalogue) {
  return Network(dump, catalogue).build();
}

fabric::Fabric read_ib(const Source& source, const ImportInputs& inputs) {
  CHECK(inputs.catalogue != nullptr);
  const IbDump dump = looks_like_ib_port_list(source.text)
                          ? read_ib_port_list(source.text, source.file)
                          : read_ib_records(source.text, source.file);
  return build_network(network_of(dump, *inputs.catalogue), inputs);
}

bool has_ib_record(std::string_view text) {
  for (const std::string_view line : split(text.substr(0, 65536), '\n')) {
    const auto words = split_whitespace(line);
    if (words.size() < 3 || words[2].front() != '"' || !parse_int(words[1])) continue;
    for (const std::string_view kind : {"Switch", "Ca", "Hca", "Rt"}) {
      if (words[0] == kind) return true;
    }
  }
  return false;
}

}  // namespace weft::import
