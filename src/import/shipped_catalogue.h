// For tests only: the shipped catalogue, read from the source tree (import/ may not use the copy
// embedded in the program).
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/text.h"
#include "import/catalogue.h"

namespace weft::import {

inline std::vector<CatalogueText> shipped_catalogue_files() {
  std::vector<std::string> paths;
  const std::string folder = std::string(WEFT_SOURCE_DIR) + "/data/catalogue";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<CatalogueText> files;
  for (const std::string& path : paths) files.push_back({path, read_file(path)});
  return files;
}

inline const Catalogue& shipped_catalogue() {
  static const Catalogue kCatalogue(shipped_catalogue_files());
  return kCatalogue;
}

}  // namespace weft::import
