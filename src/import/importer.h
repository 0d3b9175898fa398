// An importer: the text of one file in, a Fabric (or a cluster description) out. One file and one
// row of list.def each. Every importer is fuzzed, reports line and column, collects all faults of a
// file, and states through Fabric::assumptions() whatever the format does not say.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/errors.h"
#include "fabric/fabric_builder.h"
#include "import/catalogue.h"

namespace weft::import {

struct Source {
  std::string file;  // for positions and messages
  std::string text;
};

// Reads another file named by this one, or shipped data by name; throws InputError when absent.
class FileLoader {
 public:
  virtual ~FileLoader() = default;
  virtual Source load(std::string_view name, const SourcePosition& asked_at) const = 0;
};

struct ServerHints;  // import/server_hints.h

struct ImportInputs {
  const Catalogue* catalogue = nullptr;  // parts: GPUs, NICs, links, PCI ids
  const FileLoader* loader = nullptr;
  const ServerHints* hints = nullptr;    // data/fingerprints: names parts that a dump leaves out
  const fabric::Fabric* host = nullptr;  // one server: what the hosts of a network dump are
};

class Importer {
 public:
  virtual ~Importer() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;  // "nccl_xml"
  [[nodiscard]] virtual std::string_view summary() const = 0;
  // True when the text looks like this format; the first importer in list.def that says so reads
  // it.
  [[nodiscard]] virtual bool recognises(const Source& source) const = 0;
  // Throws InputError with every fault found.
  [[nodiscard]] virtual fabric::Fabric read(const Source& source,
                                            const ImportInputs& context) const = 0;
};

// One accessor a row of list.def, defined in the row's own file.
#define X(name) const Importer& name##_importer();
#include "import/list.def"
#undef X

std::span<const Importer* const> all_importers();
const Importer* find_importer(std::string_view name);
// Tries recognises() in order; InputError naming the formats known when none does.
fabric::Fabric import_any(const Source& source, const ImportInputs& context);

}  // namespace weft::import
