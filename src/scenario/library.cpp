#include "scenario/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "base/text.h"

namespace weft::scenario {
namespace {

std::vector<import::CatalogueText> catalogue_texts(
    const std::vector<ShippedFile>& files, const std::vector<import::CatalogueText>& overlays) {
  std::vector<import::CatalogueText> texts;
  for (const ShippedFile& file : files) {
    if (file.path.starts_with("catalogue/") && file.path.ends_with(".yaml")) {
      texts.push_back({"data/" + file.path, file.text});
    }
  }
  texts.insert(texts.end(), overlays.begin(), overlays.end());
  return texts;
}

bool is_file(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

}  // namespace

Library::Library(std::vector<ShippedFile> files, std::vector<import::CatalogueText> overlays)
    : files_(std::move(files)),
      overlays_(std::move(overlays)),
      catalogue_(catalogue_texts(files_, overlays_)) {
  const ShippedFile* collective = find("constants", "collective");
  const ShippedFile* path = find("constants", "path_costs");
  const ShippedFile* fingerprints = find("fingerprints", "servers");
  const ShippedFile* point = find("constants", "point_to_point");
  CHECK(collective != nullptr && path != nullptr && fingerprints != nullptr && point != nullptr);
  constants_ = collective::parse_constants(collective->text, "data/constants/collective.yaml");
  hints_ = import::read_hints({"data/fingerprints/servers.yaml", fingerprints->text});
  costs_ = fabric::read_path_costs(path->text, "data/constants/path_costs.yaml");
  point_ = pointtest::read_constants(point->text, "data/constants/point_to_point.yaml");
}

Library Library::with_catalogues(const std::vector<import::NameAt>& names) const {
  std::vector<import::CatalogueText> overlays = overlays_;
  for (const auto& [name, where] : names) {
    const std::filesystem::path beside = std::filesystem::path(where.file).parent_path() / name;
    const std::string path = is_file(beside) ? beside.string() : name;
    if (!is_file(path)) {
      throw InputError(where, fmt::format("there is no catalogue file '{}'", name),
                       "name a file whose first line is 'weft: catalogue/1'");
    }
    overlays.push_back({path, read_file(path), true});
  }
  return {files_, std::move(overlays)};
}

std::vector<std::string> Library::names(std::string_view folder) const {
  std::vector<std::string> names;
  const std::string prefix = std::string(folder) + "/";
  for (const ShippedFile& file : files_) {
    if (!file.path.starts_with(prefix) || !file.path.ends_with(".yaml")) continue;
    names.push_back(file.path.substr(prefix.size(), file.path.size() - prefix.size() - 5));
  }
  return names;
}

const ShippedFile* Library::find(std::string_view folder, std::string_view name) const {
  const std::string path = fmt::format("{}/{}.yaml", folder, name);
  for (const ShippedFile& file : files_) {
    if (file.path == path) return &file;
  }
  return nullptr;
}

import::Source Library::load(std::string_view name, const SourcePosition& asked_at) const {
  const std::filesystem::path beside = std::filesystem::path(asked_at.file).parent_path() / name;
  if (is_file(beside)) return {beside.string(), read_file(beside.string())};
  if (is_file(std::filesystem::path(name)))
    return {std::string(name), read_file(std::string(name))};
  for (const char* folder : {"clusters", "servers"}) {
    if (const ShippedFile* file = find(folder, name)) return {"data/" + file->path, file->text};
  }
  std::vector<std::string> known = names("clusters");
  for (std::string& server : names("servers")) known.push_back(std::move(server));
  throw InputError(asked_at,
                   fmt::format("there is no file and no shipped cluster or server '{}'", name),
                   suggest(name, known));
}

}  // namespace weft::scenario
