// What a reader owes a user whatever the text: every fault has a line, a column and a sentence.
#pragma once

#include "base/check.h"
#include "base/errors.h"

namespace weft::fuzz {

// Runs `read` and lets nothing but a well-made InputError out of it.
template <typename Read>
void survives(Read read) {
  try {
    read();
  } catch (const InputError& error) {
    CHECK(!error.diagnostics().empty());
    for (const Diagnostic& fault : error.diagnostics()) {
      CHECK(fault.where.line > 0 && fault.where.column > 0 && !fault.what.empty());
    }
  }
}

}  // namespace weft::fuzz
