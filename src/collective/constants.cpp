#include "collective/constants.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/text.h"
#include "base/yaml.h"

namespace weft::collective {
namespace {

using ByKind = GenerationConstants::ByKind;

// Every figure says where it comes from; a fitted one also on what and how well.
void check_provenance(Fields& fields, Diagnostics& diagnostics) {
  const std::string confidence = fields.required_string("confidence");
  const bool fitted = confidence == "fitted";
  if (!fitted && confidence != "vendor_claim" && confidence != "measured" &&
      confidence != "assumed" && !confidence.empty())
    diagnostics.add(fields.where_of("confidence"), "unknown confidence '" + confidence + "'",
                    "one of: fitted, measured, vendor_claim, assumed");
  if (fields.required_string("source").empty() && confidence != "assumed")
    diagnostics.add(fields.where(), "a figure without a source");
  const auto fitted_on = fields.optional_string("fitted_on");
  const auto residual = fields.optional_double("residual_percent", -100, 100);
  if (fitted && (!fitted_on || !residual))
    diagnostics.add(fields.where(), "a fitted figure needs fitted_on and residual_percent");
}

double read_scale(const YamlNode& node, Diagnostics& diagnostics) {
  Fields fields(node, "latency scale", diagnostics);
  const double value = fields.optional_double("value", 0.1, 100).value_or(1);
  check_provenance(fields, diagnostics);
  fields.finish();
  return value;
}

// `{64KiB: 1.2, 1MiB: 1.05}`, sizes rising.
SizeCurve read_curve(const YamlNode& node, Diagnostics& diagnostics) {
  SizeCurve curve;
  if (node.kind != YamlNode::Kind::mapping) {
    diagnostics.add(node.where, "a curve takes sizes and factors", "write {64KiB: 1.2, 1MiB: 1}");
    return curve;
  }
  for (const auto& [key, value] : node.entries) {
    const auto size = parse_bytes(key.text);
    const auto factor = parse_double(value.text);
    if (!size || size->count() < 1 || !factor || *factor < 0.1 || *factor > 10) {
      diagnostics.add(key.where, "a point of a curve is a size and a factor from 0.1 to 10",
                      "write 64KiB: 1.2");
      continue;
    }
    const double log2_bytes = std::log2(size->to_double());
    if (!curve.points.empty() && curve.points.back().log2_bytes >= log2_bytes)
      diagnostics.add(key.where, "the sizes of a curve must rise");
    curve.points.push_back({log2_bytes, *factor});
  }
  return curve;
}

std::vector<work::CollectiveKind> read_kinds(Fields& fields, Diagnostics& diagnostics) {
  std::vector<work::CollectiveKind> kinds;
  for (const YamlNode& kind : fields.optional_list("kinds")) {
    if (const auto parsed = work::parse_collective(kind.text))
      kinds.push_back(*parsed);
    else
      diagnostics.add(kind.where, "unknown collective '" + kind.text + "'",
                      suggest(kind.text, work::collective_names()));
  }
  return kinds;
}

// Efficiency and curves of the kinds named. A later row overrides what it states.
void read_pattern(const std::vector<YamlNode>& rows, ByKind& into, Diagnostics& diagnostics) {
  for (const YamlNode& row : rows) {
    Fields fields(row, "pattern", diagnostics);
    const auto efficiency = fields.optional_double("efficiency", 0.01, 1.1);
    const auto own_copy = fields.optional_double("own_copy", 0, 10);
    const YamlNode* low_latency = fields.optional_node("low_latency");
    const YamlNode* simple = fields.optional_node("simple");
    if (!efficiency && low_latency == nullptr && simple == nullptr)
      fields.complain("efficiency", "an efficiency or a curve is missing", "efficiency: 0.95");
    const auto low_curve = low_latency ? read_curve(*low_latency, diagnostics) : SizeCurve();
    const auto simple_curve = simple ? read_curve(*simple, diagnostics) : SizeCurve();
    for (const work::CollectiveKind kind : read_kinds(fields, diagnostics)) {
      PatternConstants& out = into[static_cast<std::size_t>(kind)];
      if (efficiency) out.efficiency = *efficiency;
      if (own_copy) out.own_copy = *own_copy;
      if (low_latency != nullptr) out.low_latency = low_curve;
      if (simple != nullptr) out.simple = simple_curve;
    }
    check_provenance(fields, diagnostics);
    fields.finish();
  }
}

// Kinds made of sends of which nothing was measured go like all_to_all, the rest at full rate.
void fill_unmeasured(GenerationConstants& of) {
  using enum work::CollectiveKind;
  const PatternConstants sends = of.direct[static_cast<std::size_t>(all_to_all)];
  for (work::CollectiveKind kind :
       {gather, scatter, hypercube, broadcast, reduce, all_reduce, moe_dispatch, moe_combine}) {
    PatternConstants& own = of.direct[static_cast<std::size_t>(kind)];
    if (own.efficiency == 0) own = sends;
  }
  for (ByKind* row : {&of.ring, &of.tree, &of.direct, &of.nvls})
    for (PatternConstants& each : *row)
      if (each.efficiency == 0) each.efficiency = 1;
}

GenerationConstants read_generation(const YamlNode& node, Diagnostics& diagnostics) {
  GenerationConstants out;
  for (ByKind* row : {&out.ring, &out.tree, &out.direct, &out.nvls})
    for (PatternConstants& each : *row) each.efficiency = 0;  // 0: not given
  Fields fields(node, "generation", diagnostics);
  out.compute_capability = static_cast<int>(fields.required_int("compute_capability", 1, 10000));
  (void)fields.required_string("gpus");
  if (const YamlNode* scale = fields.required_node("latency_scale"))
    out.latency_scale = read_scale(*scale, diagnostics);
  if (const YamlNode* scale = fields.optional_node("nvls_latency_scale"))
    out.nvls_latency_scale = read_scale(*scale, diagnostics);
  else
    out.nvls_latency_scale = out.latency_scale;
  if (const YamlNode* copy = fields.optional_node("channel_copy_gb_per_s"))
    out.channel_copy_gb_per_s = read_scale(*copy, diagnostics);
  read_pattern(fields.optional_list("ring"), out.ring, diagnostics);
  read_pattern(fields.optional_list("tree"), out.tree, diagnostics);
  read_pattern(fields.optional_list("direct"), out.direct, diagnostics);
  read_pattern(fields.optional_list("nvls"), out.nvls, diagnostics);
  fields.finish();
  fill_unmeasured(out);
  return out;
}

NicConstants read_nic(const YamlNode& node, Diagnostics& diagnostics) {
  NicConstants out;
  Fields fields(node, "nic", diagnostics);
  out.name = fields.required_string("name");
  const auto value = fields.optional_double("efficiency", 0.01, 1.1);
  if (!value) fields.complain("efficiency", "an efficiency is missing", "efficiency: 0.95");
  out.efficiency = value.value_or(1);
  out.hop_us = fields.optional_double("hop_us", 0, 10000).value_or(0);
  out.latency_share = fields.optional_double("latency_share", 0, 2).value_or(1);
  if (const YamlNode* curve = fields.optional_node("low_latency"))
    out.low_latency = read_curve(*curve, diagnostics);
  if (const YamlNode* curve = fields.optional_node("simple"))
    out.simple = read_curve(*curve, diagnostics);
  check_provenance(fields, diagnostics);
  fields.finish();
  return out;
}

// A list of single figures, each with its provenance.
void read_figures(const std::vector<YamlNode>& rows, Constants& out, Diagnostics& diagnostics) {
  const std::vector<std::pair<std::string, double*>> known = {
      {"shared_memory_efficiency", &out.staging.shared_memory_efficiency},
      {"shared_memory_latency_scale_amd", &out.staging.shared_memory_latency_scale_amd},
      {"staged_network_efficiency", &out.staging.network_efficiency},
      {"staged_network_hop_us", &out.staging.network_hop_us},
      {"network_send_efficiency", &out.network_send.efficiency},
      {"network_send_hop_us", &out.network_send.hop_us}};
  std::vector<std::string> names;
  for (const auto& [name, value] : known) names.push_back(name);
  for (const YamlNode& row : rows) {
    Fields fields(row, "figure", diagnostics);
    const auto name = fields.optional_choice("name", names);
    const auto value = fields.optional_double("value", 0.01, 1000);
    if (name && value) *known[*name].second = *value;
    if (!value) fields.complain("value", "a value is missing", "value: 0.62");
    check_provenance(fields, diagnostics);
    fields.finish();
  }
}

MoeLatency read_moe(const YamlNode& node, Diagnostics& diagnostics) {
  MoeLatency out;
  Fields fields(node, "moe", diagnostics);
  out.algorithm = fields.required_string("algorithm");
  const auto kind = work::parse_collective(fields.required_string("collective"));
  if (!kind || !work::is_moe(*kind))
    fields.complain("collective", "not a mixture-of-experts collective",
                    "moe_dispatch or moe_combine");
  else
    out.kind = *kind;
  out.inside_us = fields.optional_double("inside_us", 0, 1e6).value_or(0);
  out.across_us = fields.optional_double("across_us", 0, 1e6).value_or(0);
  check_provenance(fields, diagnostics);
  fields.finish();
  return out;
}

}  // namespace

double SizeCurve::at(Bytes size) const {
  if (points.empty()) return 1;
  const double x = std::log2(std::max(size.to_double(), 1.0));
  if (x <= points.front().log2_bytes) return points.front().factor;
  for (std::size_t p = 1; p < points.size(); ++p) {
    const Point &a = points[p - 1], &b = points[p];
    if (x > b.log2_bytes) continue;
    return a.factor + (b.factor - a.factor) * (x - a.log2_bytes) / (b.log2_bytes - a.log2_bytes);
  }
  return points.back().factor;
}

const GenerationConstants& Constants::of(int compute_capability) const {
  CHECK(!generations.empty());
  const GenerationConstants* best = nullptr;
  for (const GenerationConstants& each : generations)
    if (each.compute_capability <= compute_capability &&
        (best == nullptr || each.compute_capability > best->compute_capability))
      best = &each;
  if (best != nullptr) return *best;
  return *std::min_element(
      generations.begin(), generations.end(),
      [](const auto& a, const auto& b) { return a.compute_capability < b.compute_capability; });
}

const NicConstants& Constants::nic(std::string_view model, fabric::Vendor vendor) const {
  static const NicConstants kPlain;
  const std::string_view maker = fabric::to_text(vendor);
  const NicConstants* by_vendor = nullptr;
  const NicConstants* fallback = &kPlain;
  for (const NicConstants& each : nics) {
    if (each.name == "default")
      fallback = &each;
    else if (each.name == maker)
      by_vendor = &each;
    else if (!model.empty() && starts_with(model, each.name))
      return each;
  }
  return by_vendor != nullptr ? *by_vendor : *fallback;
}

MoeLatency Constants::moe_latency(std::string_view algorithm, work::CollectiveKind kind) const {
  for (const MoeLatency& each : moe)
    if (each.algorithm == algorithm && each.kind == kind) return each;
  return {};
}

Constants parse_constants(std::string_view text, const std::string& file) {
  const YamlNode root = parse_yaml(text, file);
  Diagnostics diagnostics;
  Constants out;
  Fields fields(root, "collective constants", diagnostics);
  (void)fields.required_int("version", 1, 1);
  for (const YamlNode& node : fields.optional_list("generations"))
    out.generations.push_back(read_generation(node, diagnostics));
  for (const YamlNode& node : fields.optional_list("nics"))
    out.nics.push_back(read_nic(node, diagnostics));
  read_figures(fields.optional_list("figures"), out, diagnostics);
  for (const YamlNode& node : fields.optional_list("moe"))
    out.moe.push_back(read_moe(node, diagnostics));
  if (out.generations.empty()) fields.complain("generations", "no generation is given");
  fields.finish();
  diagnostics.throw_if_any(text);
  return out;
}

}  // namespace weft::collective
