// The files under data/ (catalogue, servers, clusters), compiled into the program so that it runs
// from one file. Generated at build time by cmake/embed_data.cmake.
#pragma once

#include <span>
#include <string_view>

namespace weft::data {

struct EmbeddedFile {
  std::string_view path;  // below data/, with forward slashes: "servers/hgx-h100.yaml"
  std::string_view text;
};

// Sorted by path.
std::span<const EmbeddedFile> embedded_files();
// nullptr when there is none.
const EmbeddedFile* find_embedded(std::string_view path);

}  // namespace weft::data
