#include "scenario/session.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "engine/analytic/analytic_engine.h"
#include "engine/flow/flow_engine.h"
#include "engine/packet/packet_engine.h"
#include "scenario/deadlock_note.h"
#include "transport/transport.h"

namespace weft::scenario {
namespace {

const transport::Transport& find_stack(const TextAt& name) {
  if (const transport::Transport* found = transport::find_transport(name.text)) return *found;
  std::vector<std::string> names;
  for (const transport::Transport* row : transport::all_transports())
    names.emplace_back(row->name());
  throw InputError(name.where, fmt::format("there is no protocol stack '{}'", name.text),
                   suggest(name.text, names));
}

routing::Policy find_policy(const TextAt& name, const fabric::Fabric& fabric) {
  const auto policy = routing::parse_policy(name.text);
  if (!policy)
    throw InputError(name.where, fmt::format("there is no routing '{}'", name.text),
                     suggest(name.text, routing::policy_names()));
  const std::string refusal = routing::refuse_policy(fabric, *policy);
  if (!refusal.empty())
    throw InputError(name.where, refusal, "use ecmp, spray, adaptive, flowlet, up_down or valiant");
  return *policy;
}

// What a stack runs with packet by packet: InfiniBand has credits, RoCE pauses, RoCEv2 heeds marks.
engine::PacketOptions packet_options(std::string_view stack, std::uint64_t seed) {
  engine::PacketOptions options;
  options.seed = seed;
  if (stack == "infiniband") {
    options.ack_size = Bytes(30);
    options.flow_control = "credit";
  }
  if (stack == "rocev1" || stack == "rocev2") options.flow_control = "pfc";
  if (stack == "rocev2") {
    options.congestion = "dcqcn";
    options.mark_by_rate = true;
  }
  return options;
}

std::array<const engine::Engine*, 3> engines() {
  return {&engine::analytic_engine(), &engine::flow_engine(), &engine::packet_engine()};
}

}  // namespace

Session::Session(const Library& library, Cluster cluster, const StackOptions& options)
    : cluster_(std::move(cluster)),
      costs_(library.path_costs()),
      constants_(library.collective_constants()),
      point_(library.point_constants()) {
  stack_ = options.stack ? options.stack->text : cluster_.stack;
  const transport::Transport& transport =
      find_stack(options.stack ? *options.stack : TextAt{cluster_.stack, {}});
  costs_.network = transport.costs(options.mtu.value_or(transport.default_mtu()));
  routing::RouteOptions route_options{options.seed, false};
  const auto& routing = options.routing ? options.routing : cluster_.routing;
  if (routing) route_options.policy = find_policy(*routing, *cluster_.fabric);
  routes_ = std::make_unique<routing::Routes>(*cluster_.fabric, route_options);
  std::string note;
  if (costs_.network.rdma) note = deadlock_note(*cluster_.fabric, *routes_);
  if (!note.empty()) cluster_.notes.push_back(std::move(note));
  options_.seed = options.seed;
  options_.queue_pairs = options.queue_pairs;
  options_.via = options.via;
}

fabric::NetworkRoute Session::network_route() const {
  const routing::Routes* routes = routes_.get();
  return [routes](fabric::DeviceId from, fabric::DeviceId to, std::uint64_t entropy,
                  std::vector<fabric::LinkId>& out) { routes->path(from, to, entropy, out); };
}

engine::Setup Session::setup(work::Work work) const {
  engine::Setup setup;
  setup.fabric = cluster_.fabric.get();
  setup.routes = routes_.get();
  setup.work = std::move(work);
  setup.costs = costs_;
  setup.constants = constants_;
  setup.options = options_;
  setup.packet = packet_options(stack_, options_.seed);
  return setup;
}

std::vector<std::string> engine_names() {
  std::vector<std::string> names;
  for (const engine::Engine* engine : engines()) names.emplace_back(engine->name());
  return names;
}

const engine::Engine& find_engine(const TextAt& name) {
  for (const engine::Engine* engine : engines()) {
    if (engine->name() == name.text) return *engine;
  }
  throw InputError(name.where, fmt::format("there is no engine '{}'", name.text),
                   suggest(name.text, engine_names()));
}

}  // namespace weft::scenario
