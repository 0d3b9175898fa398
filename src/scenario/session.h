// Session: a cluster ready to be asked questions: its fabric, routes, protocol stack and constants,
// owned together. Names the user wrote (cluster, stack, engine) are looked up here and nowhere
// else.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "scenario/library.h"
#include "scenario/scenario_file.h"

namespace weft::scenario {

struct Cluster {
  std::unique_ptr<fabric::Fabric> fabric;
  std::string name;
  std::string stack;               // preset named by the cluster, or by its network's kind
  std::optional<TextAt> routing;   // fabric.routing of the cluster file
  std::vector<std::string> notes;  // what was assumed, importer's assumptions first
};

struct OpenOptions {
  bool sharp = false;                 // as `sharp: true` in the cluster file
  std::optional<std::int64_t> nodes;  // copies of a server source, joined by a rail fabric
  std::optional<std::string> host;    // a server: what the hosts of a network dump are
  SourcePosition asked_at{"command line", 0, 0};
};

// A cluster file, a server file, or any dump an importer reads; a path or a shipped name.
// A single server asked for with nodes > 1 is joined by one non-blocking switch per rail at the
// rate of its own NICs. Throws InputError.
Cluster open_cluster(const Library& library, std::string_view source, const OpenOptions& options);

struct StackOptions {
  std::optional<TextAt> stack;    // overrides the cluster's
  std::optional<TextAt> routing;  // the same; neither: ecmp
  std::optional<Bytes> mtu;
  std::uint64_t seed = 1;
  int queue_pairs = 1;
  fabric::Via via = fabric::Via::automatic;
};

class Session {
 public:
  Session(const Library& library, Cluster cluster, const StackOptions& options);

  // Its notes end with what the routes call for.
  [[nodiscard]] const Cluster& cluster() const { return cluster_; }
  [[nodiscard]] const fabric::Fabric& fabric() const { return *cluster_.fabric; }
  [[nodiscard]] const std::string& stack() const { return stack_; }
  [[nodiscard]] routing::Policy routing() const { return routes_->policy(); }
  [[nodiscard]] const fabric::PathCosts& costs() const { return costs_; }
  [[nodiscard]] fabric::NetworkRoute network_route() const;
  [[nodiscard]] engine::Setup setup(work::Work work) const;
  [[nodiscard]] const collective::Constants& constants() const { return constants_; }
  [[nodiscard]] const pointtest::Constants& point_constants() const { return point_; }
  void use_point_constants(pointtest::Constants constants) { point_ = std::move(constants); }
  // For a fit: other constants of the collective model than the library's.
  void use_constants(collective::Constants constants) { constants_ = std::move(constants); }

 private:
  Cluster cluster_;
  std::string stack_;
  std::unique_ptr<routing::Routes> routes_;
  fabric::PathCosts costs_;
  collective::Constants constants_;
  pointtest::Constants point_;
  engine::Options options_;
};

// Engines by name; InputError with the names known.
const engine::Engine& find_engine(const TextAt& name);
std::vector<std::string> engine_names();

// Every rank on one GPU each, in fabric order, and group 0 of all ranks (or of `gpus` first ones).
work::Work work_on_all_gpus(const fabric::Fabric& fabric, std::optional<std::uint32_t> gpus = {});
// The scenario's items as ops. Throws InputError with positions in the scenario file.
work::Work build_work(const ScenarioFile& scenario, const fabric::Fabric& fabric);
// Its link changes, cable by cable. Throws InputError, also when `engine` cannot change rates.
std::vector<engine::LinkChange> build_link_changes(const ScenarioFile& scenario,
                                                   const fabric::Fabric& fabric,
                                                   const engine::Engine& engine);

}  // namespace weft::scenario
