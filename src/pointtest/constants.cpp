// Reads data/constants/point_to_point.yaml. A table of names and members for each sort of part; the
// default row must have all of them, other rows any.
#include "pointtest/constants.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <variant>

#include "base/text.h"
#include "base/yaml.h"

namespace weft::pointtest {
namespace {

template <class Costs>
struct Row {
  std::string_view name;
  std::variant<Duration Costs::*, double Costs::*, Bytes Costs::*, BitRate Costs::*, int Costs::*>
      member;
};

const std::array<Row<GpuCosts>, 7> kGpu = {{
    {"copy_gap", &GpuCosts::copy_gap},
    {"local_copy", &GpuCosts::local_copy},
    {"host_store", &GpuCosts::host_store},
    {"peer_store", &GpuCosts::peer_store},
    {"staged_store", &GpuCosts::staged_store},
    {"load_overhead", &GpuCosts::load_overhead},
    {"direct_access", &GpuCosts::direct_access},
}};
const std::array<Row<LinkCosts>, 5> kLink = {{
    {"copy_share", &LinkCosts::copy_share},
    {"host_read_share", &LinkCosts::host_read_share},
    {"sm_share", &LinkCosts::sm_share},
    {"bidirectional_share", &LinkCosts::bidirectional_share},
    {"host_both_share", &LinkCosts::host_both_share},
}};
const std::array<Row<CpuCosts>, 7> kCpu = {{
    {"memory_way", &CpuCosts::memory_way},
    {"staging_share", &CpuCosts::staging_share},
    {"staged_both_share", &CpuCosts::staged_both_share},
    {"bridge_read", &CpuCosts::bridge_read},
    {"socket_read", &CpuCosts::socket_read},
    {"several_read", &CpuCosts::several_read},
    {"host_transfer", &CpuCosts::host_transfer},
}};
const std::array<Row<NicCosts>, 10> kNic = {{
    {"pair", &NicCosts::pair},
    {"gather", &NicCosts::gather},
    {"inline_limit", &NicCosts::inline_limit},
    {"write_gap", &NicCosts::write_gap},
    {"read_gap", &NicCosts::read_gap},
    {"least_gap", &NicCosts::least_gap},
    {"share", &NicCosts::share},
    {"read_share", &NicCosts::read_share},
    {"write_share", &NicCosts::write_share},
    {"block_gap", &NicCosts::block_gap},
}};
const std::array<Row<MpiCosts>, 16> kMpi = {{
    {"overhead", &MpiCosts::overhead},
    {"gpu_overhead", &MpiCosts::gpu_overhead},
    {"gap", &MpiCosts::gap},
    {"gpu_gap", &MpiCosts::gpu_gap},
    {"copy_ns_per_byte", &MpiCosts::copy_ns_per_byte},
    {"gap_ns_per_byte", &MpiCosts::gap_ns_per_byte},
    {"short_limit", &MpiCosts::short_limit},
    {"eager_limit", &MpiCosts::eager_limit},
    {"rendezvous", &MpiCosts::rendezvous},
    {"rendezvous_gap", &MpiCosts::rendezvous_gap},
    {"rails", &MpiCosts::rails},
    {"rail_limit", &MpiCosts::rail_limit},
    {"lone_share", &MpiCosts::lone_share},
    {"rails_share", &MpiCosts::rails_share},
    {"copied", &MpiCosts::copied},
    {"copied_gap", &MpiCosts::copied_gap},
}};
const std::array<Row<SocketCosts>, 8> kSocket = {{
    {"round_trip_half", &SocketCosts::round_trip_half},
    {"message", &SocketCosts::message},
    {"gpu_message", &SocketCosts::gpu_message},
    {"eager_ns_per_byte", &SocketCosts::eager_ns_per_byte},
    {"eager_limit", &SocketCosts::eager_limit},
    {"rendezvous", &SocketCosts::rendezvous},
    {"stream", &SocketCosts::stream},
    {"gpu_stream", &SocketCosts::gpu_stream},
}};
const std::array<Row<StagingCosts>, 11> kStaging = {{
    {"driver_chunk", &StagingCosts::driver_chunk},
    {"driver_chunk_size", &StagingCosts::driver_chunk_size},
    {"start", &StagingCosts::start},
    {"peer_start", &StagingCosts::peer_start},
    {"sm_share", &StagingCosts::sm_share},
    {"host_share", &StagingCosts::host_share},
    {"step", &StagingCosts::step},
    {"chunk", &StagingCosts::chunk},
    {"pieces", &StagingCosts::pieces},
    {"put_fill", &StagingCosts::put_fill},
    {"put", &StagingCosts::put},
}};

const std::array<Row<CopyCosts>, 3> kBar = {{
    {"store_call", &CopyCosts::store_call},
    {"load_call", &CopyCosts::load_call},
    {"load_line", &CopyCosts::load_line},
}};

// Where a value comes from: a source and how far to trust it, or the rows it was fitted on and what
// the fit leaves.
void read_origin(Fields& fields) {
  const bool fitted = fields.has("fitted_on");
  if (fitted) {
    (void)fields.optional_string("fitted_on");
    (void)fields.required_string("residual");
  } else {
    (void)fields.required_string("source");
    (void)fields.optional_choice("confidence", {"datasheet", "measured", "standard", "estimate"});
    if (!fields.has("confidence"))
      fields.complain("confidence", "a constant needs a confidence, or fitted_on and residual");
  }
  (void)fields.optional_string("meaning");
}

template <class Costs>
void read_value(const YamlNode& node, const Row<Costs>& row, Costs& costs,
                Diagnostics& diagnostics) {
  Fields fields(node, std::string(row.name), diagnostics);
  if (node.kind != YamlNode::Kind::mapping) return;
  bool given = false;
  const auto take = [&](const auto& value, auto member) {
    given = value.has_value();
    if (given) costs.*member = *value;
  };
  std::visit(
      [&](auto member) {
        using Value = std::remove_cvref_t<decltype(costs.*member)>;
        if constexpr (std::is_same_v<Value, Duration>) {
          take(fields.optional_duration("value"), member);
        } else if constexpr (std::is_same_v<Value, Bytes>) {
          take(fields.optional_bytes("value"), member);
        } else if constexpr (std::is_same_v<Value, BitRate>) {
          take(fields.optional_rate("value"), member);
        } else if constexpr (std::is_same_v<Value, int>) {
          const auto value = fields.optional_int("value", 1, 1'000'000);
          given = value.has_value();
          if (given) costs.*member = static_cast<int>(*value);
        } else {
          take(fields.optional_double("value", 0, 1e6), member);
        }
      },
      row.member);
  if (!given) fields.complain("value", "a constant needs a value");
  read_origin(fields);
  fields.finish();
}

template <class Costs>
void read_row(Fields& fields, std::span<const Row<Costs>> rows, bool complete, Costs& costs,
              Diagnostics& diagnostics) {
  for (const Row<Costs>& row : rows) {
    const YamlNode* node =
        complete ? fields.required_node(row.name) : fields.optional_node(row.name);
    if (node != nullptr) read_value(*node, row, costs, diagnostics);
  }
  fields.finish();
}

// Rows of one sort; `keep` stores one by its name ("default" first, so that others inherit it).
template <class Costs, class Keep>
void read_rows(Fields& file, std::string_view section, std::span<const Row<Costs>> rows,
               Diagnostics& diagnostics, Keep keep) {
  Costs fallback;
  bool first = true;
  for (const YamlNode& node : file.optional_list(section)) {
    Fields fields(node, std::string(section), diagnostics);
    if (node.kind != YamlNode::Kind::mapping) continue;
    const std::string name = fields.required_string("of");
    if (first != (name == "default"))
      fields.complain("of", "the first row, and only that, is the default");
    Costs costs = keep.inherited(name, fallback);
    read_row(fields, rows, first, costs, diagnostics);
    if (first) fallback = costs;
    keep.store(name, costs);
    first = false;
  }
  if (first) file.complain(section, fmt::format("{} has no default row", section));
}

template <class Costs>
struct ByName {
  Rows<Costs>* rows;
  [[nodiscard]] Costs inherited(const std::string&, const Costs& fallback) const {
    return fallback;
  }
  void store(const std::string& name, const Costs& costs) const {
    if (name == "default")
      rows->fallback = costs;
    else
      rows->named[name] = costs;
  }
};

// A GPU row is named by a compute capability or by a model; a model inherits from what the file
// said before it through `like`, here: from the row of the same capability, written "80/MODEL".
struct ByGpu {
  Constants* constants;
  [[nodiscard]] GpuCosts inherited(const std::string& name, const GpuCosts& fallback) const {
    const std::size_t slash = name.find('/');
    if (slash == std::string::npos) return fallback;
    const auto capability = parse_int(name.substr(0, slash));
    return capability ? constants->gpu("", static_cast<int>(*capability)) : fallback;
  }
  void store(const std::string& name, const GpuCosts& costs) const {
    const std::size_t slash = name.find('/');
    if (slash != std::string::npos) {
      constants->gpus_named[name.substr(slash + 1)] = costs;
    } else {
      constants->gpus_from[static_cast<int>(parse_int(name).value_or(0))] = costs;
    }
  }
};

template <class Costs>
void read_single(Fields& file, std::string_view section, std::span<const Row<Costs>> rows,
                 Costs& costs, Diagnostics& diagnostics) {
  const YamlNode* node = file.required_node(section);
  if (node == nullptr) return;
  Fields fields(*node, std::string(section), diagnostics);
  if (node->kind == YamlNode::Kind::mapping) read_row(fields, rows, true, costs, diagnostics);
}

}  // namespace

const GpuCosts& Constants::gpu(std::string_view model, int compute_capability) const {
  const auto named = gpus_named.find(model);
  if (named != gpus_named.end()) return named->second;
  auto above = gpus_from.upper_bound(compute_capability);
  if (above != gpus_from.begin()) --above;
  return above->second;
}

Constants read_constants(std::string_view text, const std::string& file) {
  Constants constants;
  constants.gpus_from[0] = {};
  Diagnostics diagnostics;
  const YamlNode root = parse_yaml(text, file);
  Fields fields(root, "file", diagnostics);
  if (root.kind == YamlNode::Kind::mapping) {
    if (fields.required_string("weft") != "point_to_point/1")
      fields.complain("weft", "this is no file of point-to-point constants",
                      "begin it with 'weft: point_to_point/1'");
    read_rows<GpuCosts>(fields, "gpus", kGpu, diagnostics, ByGpu{&constants});
    read_rows<LinkCosts>(fields, "links", kLink, diagnostics, ByName<LinkCosts>{&constants.links});
    read_rows<CpuCosts>(fields, "cpus", kCpu, diagnostics, ByName<CpuCosts>{&constants.cpus});
    read_rows<NicCosts>(fields, "nics", kNic, diagnostics, ByName<NicCosts>{&constants.nics});
    read_rows<MpiCosts>(fields, "mpi", kMpi, diagnostics, ByName<MpiCosts>{&constants.mpi});
    read_single<SocketCosts>(fields, "sockets", kSocket, constants.sockets, diagnostics);
    read_single<StagingCosts>(fields, "staging", kStaging, constants.staging, diagnostics);
    read_single<CopyCosts>(fields, "bar", kBar, constants.bar, diagnostics);
    fields.finish();
  }
  diagnostics.throw_if_any(text);
  return constants;
}

}  // namespace weft::pointtest
