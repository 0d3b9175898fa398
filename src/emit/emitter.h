// An emitter: a Fabric in, the text of a file for another program out; importers the other way
// round. One file and one row of list.def each. What the format cannot say is left out and named on
// the format's page under docs/formats.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/errors.h"
#include "fabric/fabric.h"

namespace weft::emit {

class Emitter {
 public:
  virtual ~Emitter() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;  // "ibsim_net"
  [[nodiscard]] virtual std::string_view summary() const = 0;
  // Throws InputError (at `asked_at`) when the fabric has nothing that the format could say.
  [[nodiscard]] virtual std::string write(const fabric::Fabric& fabric,
                                          const SourcePosition& asked_at) const = 0;
};

// One accessor a row of list.def, defined in the row's own file.
#define X(name) const Emitter& name##_emitter();
#include "emit/list.def"
#undef X

std::span<const Emitter* const> all_emitters();
const Emitter* find_emitter(std::string_view name);  // nullptr when unknown

}  // namespace weft::emit
