// PeerReader: NVLink, xGMI and C2C of a server file.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "import/hostlist.h"
#include "import/server_reader.h"

namespace weft::import {

namespace {

using fabric::DeviceKind;
using fabric::LinkKind;

constexpr int kMostLinks = 72;  // of one bundle
constexpr std::size_t kMostBundles = 100'000;

}  // namespace

PeerReader::PeerReader(const Catalogue& catalogue, Diagnostics& diagnostics, ServerFile& file)
    : catalogue_(catalogue),
      diagnostics_(diagnostics),
      file_(file),
      gpus_(in_order(file, PcieNode::Kind::gpu)) {}

// "3-4": two numbers, the first below limit_a, the second below limit_b.
std::vector<PeerReader::Pair> PeerReader::read_pairs(Fields& fields, std::string_view key,
                                                     std::size_t limit_a, std::size_t limit_b,
                                                     bool same_kind) {
  std::vector<Pair> pairs;
  for (const YamlNode& item : fields.optional_list(key)) {
    const auto parts = split(item.text, '-');
    const auto a = parts.size() == 2 ? parse_int(trim(parts[0])) : std::nullopt;
    const auto b = parts.size() == 2 ? parse_int(trim(parts[1])) : std::nullopt;
    if (!a || !b || *a < 0 || *b < 0) {
      diagnostics_.add(item.where, fmt::format("'{}' is not a pair", item.text),
                       "write two numbers with a dash, '0-1'");
    } else if (*a >= static_cast<std::int64_t>(limit_a) ||
               *b >= static_cast<std::int64_t>(limit_b)) {
      diagnostics_.add(item.where,
                       fmt::format("'{}' names a device that the file does not have", item.text),
                       fmt::format("there are {} and {}, numbered from 0", limit_a, limit_b));
    } else if (same_kind && *a == *b) {
      diagnostics_.add(item.where, fmt::format("'{}' joins a device to itself", item.text),
                       "a pair has two different ends");
    } else {
      pairs.push_back({static_cast<int>(*a), static_cast<int>(*b)});
    }
  }
  return pairs;
}

std::vector<int> PeerReader::read_gpus(Fields& fields, std::string_view key) {
  const auto text = fields.optional_string(key);
  std::vector<int> all;
  for (std::size_t i = 0; i < gpus_.size(); ++i) all.push_back(static_cast<int>(i));
  if (!text) return all;
  auto list = parse_index_list(*text, static_cast<int>(gpus_.size()));
  if (list) return *list;
  fields.complain(key, fmt::format("'{}' is not a list of GPUs of this file", *text),
                  fmt::format("write '0-3,6'; there are {} GPUs, numbered from 0", gpus_.size()));
  return {};
}

std::vector<PeerReader::Pair> PeerReader::read_mesh(Fields& fields) {
  const std::vector<int> gpus = read_gpus(fields, "mesh");
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (std::size_t j = i + 1; j < gpus.size() && pairs.size() < kMostBundles; ++j) {
      pairs.push_back({gpus[i], gpus[j]});
    }
  }
  return pairs;
}

int PeerReader::read_links(Fields& fields) {
  return static_cast<int>(fields.optional_int("links", 1, kMostLinks).value_or(1));
}

void PeerReader::read_nvlink(const YamlNode& node) {
  Fields fields(node, "NVLink entry", diagnostics_);
  if (nvlink_at_.line == 0) nvlink_at_ = node.where;
  const bool switches = fields.has("switches"), mesh = fields.has("mesh");
  const bool pairs = fields.has("pairs"), trunks = fields.has("trunks");
  if (switches + mesh + pairs + trunks != 1) {
    if (node.kind == YamlNode::Kind::mapping) {
      diagnostics_.add(node.where, "this NVLink entry says not what it joins",
                       "give it exactly one of 'switches:', 'mesh:', 'pairs:' and 'trunks:'");
    }
    return;
  }
  if (switches) {
    read_switches(fields, node);
  } else if (trunks) {
    const std::size_t chips = file_.nvswitches.size();
    const int links = read_links(fields);
    for (const Pair p : read_pairs(fields, "trunks", chips, chips, true)) {
      file_.trunk_nvlinks.push_back({p.a, p.b, links});
    }
  } else {
    const int links = read_links(fields);
    const auto list =
        mesh ? read_mesh(fields) : read_pairs(fields, "pairs", gpus_.size(), gpus_.size(), true);
    for (const Pair p : list) file_.gpu_nvlinks.push_back({p.a, p.b, links});
  }
  fields.finish();
}

// {switches: MODEL, chips: 6, links: 2} or {switches: MODEL, links: [5, 4, 4, 5]}
void PeerReader::read_switches(Fields& fields, const YamlNode& node) {
  const std::string model = fields.required_string("switches");
  const auto device = catalogue_.device(model);
  if (!device || device->kind != DeviceKind::nvswitch) {
    fields.complain("switches", fmt::format("unknown nvswitch '{}'", model),
                    suggest(model, catalogue_.names(DeviceKind::nvswitch)));
  }
  std::vector<int> links;
  const YamlNode* list = node.find("links");
  if (list != nullptr && list->kind == YamlNode::Kind::sequence) {
    for (const YamlNode& item : fields.optional_list("links")) {
      const auto n = parse_int(item.text);
      if (n && *n >= 1 && *n <= kMostLinks) {
        links.push_back(static_cast<int>(*n));
        continue;
      }
      diagnostics_.add(item.where, fmt::format("'{}' is not a number of NVLinks", item.text),
                       fmt::format("write 1 to {}", kMostLinks));
    }
    if (fields.has("chips")) {
      fields.complain("chips", "'links' already lists one number a chip", "leave out 'chips'");
    }
  } else {
    const std::int64_t chips = fields.optional_int("chips", 1, 64).value_or(1);
    links.assign(static_cast<std::size_t>(chips), read_links(fields));
  }
  const std::vector<int> gpus = read_gpus(fields, "gpus");
  for (const int n : links) {
    const auto chip = static_cast<int>(file_.nvswitches.size());
    file_.nvswitches.push_back(model);
    for (const int gpu : gpus) file_.switch_nvlinks.push_back({gpu, chip, n});
  }
}

std::string PeerReader::read_link_name(Fields& fields, LinkKind kind) {
  const std::string name = fields.required_string("link");
  const auto link = catalogue_.link(name);
  if (link && link->kind == kind) return name;
  std::vector<std::string> known;
  for (const std::string& candidate : catalogue_.link_names()) {
    if (catalogue_.link(candidate)->kind == kind) known.push_back(candidate);
  }
  if (!name.empty()) {
    fields.complain("link", fmt::format("unknown {} link '{}'", to_text(kind), name),
                    suggest(name, known));
  }
  return {};
}

void PeerReader::read_xgmi(const YamlNode& node) {
  Fields fields(node, "xGMI entry", diagnostics_);
  const std::string link = read_link_name(fields, LinkKind::xgmi);
  const int links = read_links(fields);
  const bool mesh = fields.has("mesh");
  if (mesh == fields.has("pairs") && node.kind == YamlNode::Kind::mapping) {
    diagnostics_.add(node.where, "this xGMI entry says not what it joins",
                     "give it exactly one of 'mesh:' and 'pairs:'");
    return;
  }
  const auto pairs =
      mesh ? read_mesh(fields) : read_pairs(fields, "pairs", gpus_.size(), gpus_.size(), true);
  for (const Pair p : pairs) file_.xgmi.push_back({{p.a, p.b, links}, link});
  fields.finish();
}

void PeerReader::read_c2c(const YamlNode& node) {
  Fields fields(node, "C2C entry", diagnostics_);
  const std::string link = read_link_name(fields, LinkKind::c2c);
  const int links = read_links(fields);
  if (fields.required_node("pairs") != nullptr) {
    const auto pairs = read_pairs(fields, "pairs", gpus_.size(), file_.numa_nodes.size(), false);
    for (const Pair p : pairs) file_.c2c.push_back({{p.a, p.b, links}, link});
  }
  fields.finish();
}

// A GPU uses no more NVLinks than its model has, a chip no more ports; both ends are of one
// generation.
void PeerReader::check() {
  std::map<int, int> of_gpu, of_chip;
  const auto known_gpu = [&](int gpu) {
    return !gpus_[static_cast<std::size_t>(gpu)]->model.empty();
  };
  const auto generation = [&](int gpu) {
    return catalogue_.nvlink_of(gpus_[static_cast<std::size_t>(gpu)]->model).generation;
  };
  for (const Bundle& b : file_.gpu_nvlinks) {
    of_gpu[b.a] += b.links;
    of_gpu[b.b] += b.links;
    const bool known = known_gpu(b.a) && known_gpu(b.b);
    if (!known || generation(b.a) == generation(b.b)) continue;
    diagnostics_.add(nvlink_at_, fmt::format("GPU {} and GPU {} have different NVLinks", b.a, b.b),
                     "join GPUs of one NVLink generation");
  }
  for (const Bundle& b : file_.switch_nvlinks) {
    of_gpu[b.a] += b.links;
    of_chip[b.b] += b.links;
  }
  for (const Bundle& b : file_.trunk_nvlinks) {
    of_chip[b.a] += b.links;
    of_chip[b.b] += b.links;
  }
  for (const Bundle& b : file_.trunk_nvlinks) {
    const auto reached = [&](int chip) {
      return std::any_of(file_.switch_nvlinks.begin(), file_.switch_nvlinks.end(),
                         [chip](const Bundle& link) { return link.b == chip; });
    };
    if (reached(b.a) && reached(b.b)) continue;
    diagnostics_.add(nvlink_at_, fmt::format("trunk {}-{} leads to a chip without GPUs", b.a, b.b),
                     "join the GPUs to the chip, or leave out the trunk");
    break;
  }
  for (const auto& [gpu, used] : of_gpu) {
    const std::string& model = gpus_[static_cast<std::size_t>(gpu)]->model;
    const int has = catalogue_.nvlink_of(model).links;
    if (used <= has || model.empty()) continue;
    diagnostics_.add(nvlink_at_,
                     fmt::format("GPU {} uses {} NVLinks, {} has {}", gpu, used, model, has),
                     "count the links of all entries together");
    break;
  }
  for (const auto& [chip, used] : of_chip) {
    const auto device = catalogue_.device(file_.nvswitches[static_cast<std::size_t>(chip)]);
    if (!device || device->radix == 0 || used <= device->radix) continue;
    diagnostics_.add(nvlink_at_,
                     fmt::format("NVSwitch {} uses {} ports, {} has {}", chip, used, device->model,
                                 device->radix),
                     "spread the links over more chips");
    break;
  }
}

}  // namespace weft::import
