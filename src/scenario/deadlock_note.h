// What a user should know of routes where links are lossless: whether full buffers can block one
// another for good (routing/deadlock.h), and what helps. Networks too large to look at while a
// command starts are passed over, as are Valiant's detours.
#pragma once

#include <string>

#include "routing/routes.h"

namespace weft::scenario {

// Empty when there is nothing to say.
std::string deadlock_note(const fabric::Fabric& fabric, const routing::Routes& routes);

}  // namespace weft::scenario
