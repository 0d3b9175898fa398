#include "collective/calibration.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/yaml.h"

namespace weft::collective {

Calibration parse_calibration(std::string_view text, const std::string& file) {
  const YamlNode root = parse_yaml(text, file);
  Diagnostics diagnostics;
  Calibration out;
  Fields fields(root, "calibration", diagnostics);
  if (root.kind == YamlNode::Kind::mapping) {
    const std::string format = fields.required_string("weft");
    if (!format.empty() && format != "calibration/1") {
      fields.complain("weft", fmt::format("this is a '{}' file, not a calibration", format),
                      "weft calibrate LOG -c CLUSTER -o FILE writes one");
    }
    (void)fields.required_string("cluster");
    out.latency = fields.optional_double("latency", 0.05, 20).value_or(1);
    out.inside = fields.optional_double("inside", 0.05, 20).value_or(1);
    out.network = fields.optional_double("network", 0.05, 20).value_or(1);
    for (const YamlNode& log : fields.optional_list("fitted_on")) out.fitted_on.push_back(log.text);
    out.rows = static_cast<int>(fields.required_int("rows", 1, 1'000'000));
    out.residual_percent = fields.optional_double("residual_percent", 0, 1000).value_or(0);
    fields.finish();
  }
  diagnostics.throw_if_any(text);
  return out;
}

std::string calibration_text(const Calibration& calibration, std::string_view cluster) {
  std::string logs;
  for (const std::string& log : calibration.fitted_on)
    logs += fmt::format("{}\"{}\"", logs.empty() ? "" : ", ", log);
  return fmt::format(
      "# Factors on predicted times, fitted to this site's logs by weft calibrate.\n"
      "weft: calibration/1\n"
      "cluster: \"{}\"\n"
      "latency: {:.4g}   # small messages\n"
      "inside: {:.4g}    # bytes inside a server\n"
      "network: {:.4g}   # bytes between servers\n"
      "fitted_on: [{}]\n"
      "rows: {}\n"
      "residual_percent: {:.3g}\n",
      cluster, calibration.latency, calibration.inside, calibration.network, logs, calibration.rows,
      calibration.residual_percent);
}

}  // namespace weft::collective
