// From a cluster file's plain data to a Fabric: looks up servers, topology, switches, links, and
// builds. Every name that is not known and every count that does not fit is an InputError at its
// place in the file.
#include "import/cluster_yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "fabric/nvlink.h"
#include "scenario/network_parts.h"
#include "scenario/session.h"
#include "topology/scale_up_domain.h"
#include "topology/topology.h"

namespace weft::scenario {
namespace {

using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::Fabric;
using Spec = import::ClusterSpec;

const fabric::DeviceClass* first_nic(const Fabric& server) {
  const auto nics = server.of_kind(DeviceKind::nic);
  return nics.empty() ? nullptr : &server.device_class(nics.front());
}

// What a cluster's network runs when nobody says: InfiniBand links run `infiniband`, others
// `rocev2`.
std::string default_stack(const Fabric& fabric) {
  for (const fabric::LinkClass& link : fabric.link_classes()) {
    if (fabric::is_network(link.kind)) {
      return link.kind == fabric::LinkKind::infiniband ? "infiniband" : "rocev2";
    }
  }
  return "infiniband";
}

class ClusterBuilder {
 public:
  ClusterBuilder(const Library& library, const Spec& spec)
      : library_(library), spec_(spec), parts_(library.catalogue(), diagnostics_) {}

  Cluster build() {
    load_servers();
    if (spec_.network && spec_.network->sharp) parts_.enable_sharp(spec_.network->sharp_at);
    diagnostics_.throw_if_any();
    fill_scale_up();
    auto fabric = std::make_unique<Fabric>(
        spec_.links.empty() && spec_.switches.empty() ? generated() : drawn());
    Cluster cluster;
    cluster.stack = spec_.stack ? spec_.stack->text : default_stack(*fabric);
    if (spec_.network && spec_.network->routing)
      cluster.routing = TextAt{spec_.network->routing->text, spec_.network->routing->where};
    cluster.notes = std::move(notes_);
    cluster.fabric = std::move(fabric);
    cluster.name = spec_.file;
    return cluster;
  }

 private:
  // One template a server type, shared by the servers of that type.
  void load_servers() {
    for (const Spec::ServerGroup& group : spec_.servers) {
      const Fabric* server = load_type(group.type);
      if (server == nullptr) continue;
      for (const std::string& name : group.names) {
        inputs_.servers.push_back(server);
        inputs_.server_names.push_back(name);
      }
    }
  }

  const Fabric* load_type(const import::NameAt& type) {
    const auto known = templates_.find(type.text);
    if (known != templates_.end()) return known->second.get();
    const import::Source source = library_.load(type.text, type.where);
    if (import::is_cluster_file(source.text)) {
      diagnostics_.add(type.where, fmt::format("'{}' is a cluster, not a server", type.text),
                       "weft list servers names the shipped ones");
      return nullptr;
    }
    auto server = std::make_unique<Fabric>(import::import_any(source, library_.context()));
    for (const std::string& note : server->assumptions())
      notes_.push_back(fmt::format("{}: {}", type.text, note));
    return (templates_[type.text] = std::move(server)).get();
  }

  void fill_scale_up() {
    if (!spec_.scale_up) return;
    const Spec::ScaleUp& given = *spec_.scale_up;
    topology::ScaleUp scale_up;
    scale_up.servers_per_domain = given.servers_per_domain;
    scale_up.chips = given.chips;
    scale_up.links_per_chip = given.links_per_chip;
    scale_up.chip_class.kind = DeviceKind::nvswitch;
    if (given.chip) {
      const auto chip = library_.catalogue().device(given.chip->text);
      if (!chip || chip->kind != DeviceKind::nvswitch) {
        throw InputError(
            given.chip->where, fmt::format("there is no NVLink switch chip '{}'", given.chip->text),
            suggest(given.chip->text, library_.catalogue().names(DeviceKind::nvswitch)));
      }
      scale_up.chip_class = *chip;
    }
    const std::string_view model = gpu_model();
    scale_up.link =
        fabric::nvlink_link_class(std::max(1, library_.catalogue().nvlink_of(model).generation), 1);
    for (const std::string& why : topology::refuse_scale_up(inputs_, scale_up))
      diagnostics_.add(given.where, why, "change the counts of scale_up");
    diagnostics_.throw_if_any();
    inputs_.scale_up = scale_up;
  }

  [[nodiscard]] std::string_view gpu_model() const {
    for (const Fabric* server : inputs_.servers) {
      const auto gpus = server->of_kind(DeviceKind::gpu);
      if (!gpus.empty()) return server->device_class(gpus.front()).model;
    }
    return "";
  }

  // The link of the first NIC's port: what a network link is when the file says nothing.
  fabric::LinkClass port_link() {
    for (const Fabric* server : inputs_.servers) {
      if (const fabric::DeviceClass* nic = first_nic(*server)) return parts_.port_of(*nic);
    }
    return {};
  }

  Fabric generated() {
    if (!spec_.network || !spec_.network->topology) return unconnected();
    const Spec::Network& network = *spec_.network;
    const import::NameAt& name = *network.topology;
    const topology::Topology* topology = topology::find_topology(name.text);
    if (topology == nullptr) {
      std::vector<std::string> names;
      for (const topology::Topology* row : topology::all_topologies())
        names.emplace_back(row->name());
      throw InputError(name.where, fmt::format("there is no topology '{}'", name.text),
                       suggest(name.text, names));
    }
    fill_links(network);
    fill_switches(network);
    fill_parameters(network, *topology);
    diagnostics_.throw_if_any();
    for (const std::string& why : topology->refuse(inputs_))
      diagnostics_.add(name.where, why,
                       fmt::format("weft list topologies shows the parameters of {}", name.text));
    diagnostics_.throw_if_any();
    return topology->build(inputs_);
  }

  // No network: servers that only a scale-up domain joins, or a single one.
  Fabric unconnected() {
    if (!inputs_.scale_up && inputs_.servers.size() > 1) {
      throw InputError({spec_.file, 1, 1}, "several servers and nothing that joins them",
                       "add fabric:, links: or scale_up:");
    }
    fabric::FabricBuilder builder;
    stamp(builder);
    return std::move(builder).build();
  }

  std::vector<DeviceId> stamp(fabric::FabricBuilder& builder) {
    std::vector<DeviceId> first;
    for (std::size_t i = 0; i < inputs_.servers.size(); ++i) {
      first.push_back(builder.append_server(*inputs_.servers[i], inputs_.server_names[i], true));
    }
    if (inputs_.scale_up) topology::add_scale_up(builder, inputs_, *inputs_.scale_up, first);
    return first;
  }

  void fill_links(const Spec::Network& network) {
    inputs_.host_link = port_link();
    if (network.link) inputs_.host_link = parts_.link(*network.link, inputs_.host_link);
    inputs_.fabric_link =
        network.uplink ? parts_.link(*network.uplink, inputs_.host_link) : inputs_.host_link;
  }

  void fill_switches(const Spec::Network& network) {
    inputs_.switch_class = ideal_switch();
    for (const Spec::Switch& given : network.switches) {
      const bool leaf = inputs_.tier_switch_classes.empty();
      inputs_.tier_switch_classes.push_back(parts_.network_switch(
          given, leaf ? inputs_.host_link.raw_rate : inputs_.fabric_link.raw_rate));
    }
    if (inputs_.tier_switch_classes.empty()) {
      if (network.sharp)
        diagnostics_.add(network.sharp_at, "sharp needs switches that reduce in the network",
                         "name one: switch: quantum2");
      return;
    }
    inputs_.switch_class = inputs_.tier_switch_classes.back();
    if (inputs_.tier_switch_classes.size() == 1) inputs_.tier_switch_classes.clear();
  }

  void fill_parameters(const Spec::Network& network, const topology::Topology& topology) {
    std::vector<std::string> names;
    for (const topology::Parameter& parameter : topology.parameters())
      names.push_back(parameter.name);
    for (const Spec::Parameter& given : network.parameters) {
      const auto found = std::find(names.begin(), names.end(), given.name);
      if (found == names.end()) {
        diagnostics_.add(given.name_at,
                         fmt::format("{} has no parameter '{}'", topology.name(), given.name),
                         suggest(given.name, names));
        continue;
      }
      const topology::Parameter& parameter =
          topology.parameters()[static_cast<std::size_t>(found - names.begin())];
      const bool whole = !parameter.whole || given.value == std::floor(given.value);
      if (given.value < parameter.min || given.value > parameter.max || !whole) {
        diagnostics_.add(
            given.value_at, fmt::format("{} cannot be {:g}", given.name, given.value),
            fmt::format("write a {}number from {:g} to {:g}", parameter.whole ? "whole " : "",
                        parameter.min, parameter.max));
      }
      inputs_.parameters[given.name] = given.value;
    }
  }

  Fabric drawn() {
    fabric::FabricBuilder builder;
    const std::vector<DeviceId> first = stamp(builder);
    const fabric::LinkClass port = port_link();
    const bool has_link = spec_.network && spec_.network->link;
    const fabric::LinkClass usual = has_link ? parts_.link(*spec_.network->link, port) : port;
    std::map<std::string, DeviceId> switches;
    for (const Spec::DrawnSwitch& given : spec_.switches) {
      const auto device_class =
          builder.device_class(parts_.network_switch(given.figures, usual.raw_rate));
      switches[given.name] = builder.add_device(
          device_class, {given.name, static_cast<std::uint8_t>(given.tier), -1, false});
    }
    for (const Spec::DrawnLink& given : spec_.links) {
      const auto a = end_of(given.ends[0], first, switches),
                 b = end_of(given.ends[1], first, switches);
      const fabric::LinkClass link = given.link ? parts_.link(*given.link, usual) : usual;
      if (!a || !b) continue;
      if (link.raw_rate.bps() <= 0) {
        diagnostics_.add(given.where, "nothing says the rate of this link", "add rate: 400Gbps");
        continue;
      }
      builder.add_link({*a, *b}, builder.link_class(link));
    }
    diagnostics_.throw_if_any();
    return std::move(builder).build();
  }

  std::optional<DeviceId> end_of(const Spec::DrawnEnd& end, const std::vector<DeviceId>& first,
                                 const std::map<std::string, DeviceId>& switches) {
    if (!end.on_server) return switches.at(end.device);
    const auto at = std::find(inputs_.server_names.begin(), inputs_.server_names.end(), end.device);
    const auto server = static_cast<std::size_t>(at - inputs_.server_names.begin());
    const Fabric& shape = *inputs_.servers[server];
    const auto device = shape.find(end.port);
    if (device && shape.kind(*device) == DeviceKind::nic)
      return DeviceId(first[server].index() + device->index());
    std::vector<std::string> names;
    for (DeviceId nic : shape.of_kind(DeviceKind::nic)) names.emplace_back(shape.name(nic));
    diagnostics_.add(end.where, fmt::format("{} has no NIC '{}'", end.device, end.port),
                     names.empty() ? "that server has no NIC" : suggest(end.port, names));
    return std::nullopt;
  }

  const Library& library_;
  const Spec& spec_;
  Diagnostics diagnostics_;
  NetworkParts parts_;
  topology::Inputs inputs_;
  std::map<std::string, std::unique_ptr<Fabric>> templates_;
  std::vector<std::string> notes_;
};

Cluster build_cluster(const Library& library, const import::ClusterSpec& spec) {
  return ClusterBuilder(library, spec).build();
}

Cluster join_servers(const Library& library, std::unique_ptr<Fabric> server, std::size_t count,
                     const SourcePosition& asked_at) {
  const fabric::DeviceClass* nic = first_nic(*server);
  if (nic == nullptr || nic->port_rate.bps() <= 0) {
    throw InputError(
        asked_at,
        nic == nullptr
            ? "this server has no NIC, so copies of it cannot be joined"
            : "the rate of this server's NICs is not known, so copies of it cannot be joined",
        "write a cluster file that says how its servers are joined");
  }
  Diagnostics diagnostics;
  topology::Inputs inputs;
  inputs.servers.assign(count, server.get());
  inputs.switch_class = ideal_switch();
  inputs.host_link = inputs.fabric_link =
      NetworkParts(library.catalogue(), diagnostics).port_of(*nic);
  const topology::Topology& topology = *topology::find_topology("single_switch");
  for (const std::string& why : topology.refuse(inputs))
    diagnostics.add(asked_at, why, "write a cluster file");
  diagnostics.throw_if_any();
  Cluster cluster;
  cluster.fabric = std::make_unique<Fabric>(topology.build(inputs));
  cluster.stack = default_stack(*cluster.fabric);
  cluster.notes.assign(server->assumptions().begin(), server->assumptions().end());
  cluster.notes.push_back(fmt::format(
      "no network is given: all NICs of the {} servers hang off one ideal switch, {} a port", count,
      to_text(inputs.host_link.raw_rate)));
  return cluster;
}

Fabric load_host(const Library& library, const std::string& name, const SourcePosition& asked_at) {
  const import::Source source = library.load(name, asked_at);
  if (import::is_cluster_file(source.text)) {
    throw InputError(asked_at, fmt::format("'{}' is a cluster, not a server", name),
                     "weft list servers names the shipped ones");
  }
  Fabric host = import::import_any(source, library.context());
  if (host.server_count() == 1) return host;
  throw InputError(asked_at, fmt::format("'{}' is no single server", name),
                   "weft list servers names the shipped ones");
}

}  // namespace

Cluster open_cluster(const Library& library, std::string_view source, const OpenOptions& options) {
  const import::Source text = library.load(source, options.asked_at);
  if (import::is_cluster_file(text.text)) {
    if (options.nodes)
      throw InputError(options.asked_at,
                       fmt::format("'{}' is a cluster, which has its own number of nodes", source),
                       "leave nodes out, or name a server");
    import::ClusterSpec spec = import::parse_cluster(text.text, text.file);
    if (options.sharp && spec.network) {
      spec.network->sharp = true;
      spec.network->sharp_at = options.asked_at;
    }
    Cluster cluster = spec.catalogues.empty()
                          ? build_cluster(library, spec)
                          : build_cluster(library.with_catalogues(spec.catalogues), spec);
    cluster.name = source;
    return cluster;
  }
  if (options.sharp)
    throw InputError(options.asked_at, fmt::format("'{}' has no switches that reduce", source),
                     "leave --sharp out, or name a cluster file");
  import::ImportInputs inputs = library.context();
  std::optional<Fabric> host;
  if (options.host) {
    host = load_host(library, *options.host, options.asked_at);
    inputs.host = &*host;
  }
  auto server = std::make_unique<Fabric>(import::import_any(text, inputs));
  Cluster cluster;
  if (options.nodes.value_or(1) > 1) {
    cluster = join_servers(library, std::move(server), static_cast<std::size_t>(*options.nodes),
                           options.asked_at);
  } else {
    cluster.notes.assign(server->assumptions().begin(), server->assumptions().end());
    cluster.stack = default_stack(*server);
    cluster.fabric = std::move(server);
  }
  cluster.name = source;
  return cluster;
}

}  // namespace weft::scenario
