// For tests only: the context in which dumps are imported, from the source tree.
#pragma once

#include "import/importer.h"
#include "import/server_hints.h"
#include "import/shipped_catalogue.h"

namespace weft::import {

inline const ServerHints& shipped_hints() {
  static const ServerHints kHints = [] {
    const std::string path = std::string(WEFT_SOURCE_DIR) + "/data/fingerprints/servers.yaml";
    return read_hints({path, read_file(path)});
  }();
  return kHints;
}

inline ImportContext dump_test_context() {
  return {.catalogue = &shipped_catalogue(), .loader = nullptr, .hints = &shipped_hints()};
}

}  // namespace weft::import
