#include "collective/constants.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "base/yaml.h"

namespace weft::collective {
namespace {

using Efficiencies = std::array<double, work::kCollectiveKindCount>;

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

void read_efficiencies(const std::vector<YamlNode>& rows, Efficiencies& into,
                       Diagnostics& diagnostics) {
  for (const YamlNode& row : rows) {
    Fields fields(row, "efficiency", diagnostics);
    const auto value = fields.optional_double("efficiency", 0.01, 1.1);
    if (!value) fields.complain("efficiency", "an efficiency is missing", "efficiency: 0.95");
    for (const YamlNode& kind : fields.optional_list("kinds")) {
      const auto parsed = work::parse_collective(kind.text);
      if (!parsed)
        diagnostics.add(kind.where, "unknown collective '" + kind.text + "'",
                        suggest(kind.text, work::collective_names()));
      else if (value)
        into[static_cast<std::size_t>(*parsed)] = *value;
    }
    check_provenance(fields, diagnostics);
    fields.finish();
  }
}

// Kinds made of sends of which nothing was measured go like all_to_all, the rest at full rate.
void fill_unmeasured(GenerationConstants& of) {
  using enum work::CollectiveKind;
  const double sends = of.direct[static_cast<std::size_t>(all_to_all)];
  for (work::CollectiveKind kind : {gather, scatter, hypercube, broadcast, reduce, all_reduce}) {
    double& own = of.direct[static_cast<std::size_t>(kind)];
    if (own == 0) own = sends;
  }
  for (Efficiencies* row : {&of.ring, &of.tree, &of.direct, &of.nvls})
    for (double& value : *row)
      if (value == 0) value = 1;
}

GenerationConstants read_generation(const YamlNode& node, Diagnostics& diagnostics) {
  GenerationConstants out;
  for (Efficiencies* row : {&out.ring, &out.tree, &out.direct, &out.nvls})
    row->fill(0);  // 0: not given
  Fields fields(node, "generation", diagnostics);
  out.compute_capability = static_cast<int>(fields.required_int("compute_capability", 1, 10000));
  (void)fields.required_string("gpus");
  if (const YamlNode* scale = fields.required_node("latency_scale"))
    out.latency_scale = read_scale(*scale, diagnostics);
  if (const YamlNode* scale = fields.optional_node("nvls_latency_scale"))
    out.nvls_latency_scale = read_scale(*scale, diagnostics);
  else
    out.nvls_latency_scale = out.latency_scale;
  read_efficiencies(fields.optional_list("ring"), out.ring, diagnostics);
  read_efficiencies(fields.optional_list("tree"), out.tree, diagnostics);
  read_efficiencies(fields.optional_list("direct"), out.direct, diagnostics);
  read_efficiencies(fields.optional_list("nvls"), out.nvls, diagnostics);
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
  check_provenance(fields, diagnostics);
  fields.finish();
  return out;
}

}  // namespace

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

double Constants::nic_efficiency(std::string_view model, fabric::Vendor vendor) const {
  const std::string_view maker = fabric::to_text(vendor);
  const NicConstants* by_vendor = nullptr;
  const NicConstants* fallback = nullptr;
  for (const NicConstants& each : nics) {
    if (each.name == "default")
      fallback = &each;
    else if (each.name == maker)
      by_vendor = &each;
    else if (!model.empty() && starts_with(model, each.name))
      return each.efficiency;
  }
  if (by_vendor != nullptr) return by_vendor->efficiency;
  return fallback != nullptr ? fallback->efficiency : 1;
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
  if (out.generations.empty()) fields.complain("generations", "no generation is given");
  fields.finish();
  diagnostics.throw_if_any(text);
  return out;
}

}  // namespace weft::collective
