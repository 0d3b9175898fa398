#include "data/embedded.h"

#include <algorithm>

namespace weft::data {

const EmbeddedFile* find_embedded(std::string_view path) {
  const auto files = embedded_files();
  const auto at = std::lower_bound(
      files.begin(), files.end(), path,
      [](const EmbeddedFile& file, std::string_view wanted) { return file.path < wanted; });
  return at != files.end() && at->path == path ? &*at : nullptr;
}

}  // namespace weft::data
