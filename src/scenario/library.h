// Everything shipped with the program: the parts catalogue, servers, clusters and constants, read
// from the files embedded in the binary. Built once by app/ and handed on; nothing here is global.
#pragma once

#include <string>
#include <vector>

#include "collective/constants.h"
#include "fabric/path_costs.h"
#include "import/cluster_yaml.h"
#include "import/importer.h"
#include "import/server_hints.h"
#include "pointtest/constants.h"

namespace weft::scenario {

struct ShippedFile {
  std::string path;  // "clusters/demo-8x8-h100-rail.yaml"
  std::string text;
};

class Library : public import::FileLoader {
 public:
  explicit Library(std::vector<ShippedFile> files) : Library(std::move(files), {}) {}
  // The same with a user's own catalogue files over what it has, in order. Each is looked for
  // beside the file that names it, then as given. Throws InputError.
  [[nodiscard]] Library with_catalogues(const std::vector<import::NameAt>& names) const;

  [[nodiscard]] const import::Catalogue& catalogue() const { return catalogue_; }
  [[nodiscard]] const collective::Constants& collective_constants() const { return constants_; }
  [[nodiscard]] const fabric::PathCosts& path_costs() const { return costs_; }
  [[nodiscard]] const pointtest::Constants& point_constants() const { return point_; }
  [[nodiscard]] import::ImportInputs context() const { return {&catalogue_, this, &hints_}; }

  // Names of the files in a folder, without ".yaml": names("clusters"), names("servers").
  [[nodiscard]] std::vector<std::string> names(std::string_view folder) const;
  [[nodiscard]] const ShippedFile* find(std::string_view folder, std::string_view name) const;

  // A path on disk when such a file exists (as given, or beside the file that names it), else a
  // shipped server or cluster of that name; InputError with suggestions otherwise.
  [[nodiscard]] import::Source load(std::string_view name,
                                    const SourcePosition& asked_at) const override;

 private:
  Library(std::vector<ShippedFile> files, std::vector<import::CatalogueText> overlays);

  std::vector<ShippedFile> files_;
  std::vector<import::CatalogueText> overlays_;
  import::Catalogue catalogue_;
  import::ServerHints hints_;  // import::read_hints() of fingerprints/servers.yaml
  collective::Constants constants_;
  fabric::PathCosts costs_;
  pointtest::Constants point_;
};

}  // namespace weft::scenario
