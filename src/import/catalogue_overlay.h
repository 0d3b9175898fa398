// Lays a user's own catalogue file over the shipped ones. A record that an earlier file has (same
// section, same name or alias) is changed: the figures stated replace the earlier ones together
// with their sources, `FIELD: ~` takes one away, all others stay. Any other record is new.
// Positions stay those of the file in which each value was written.
#pragma once

#include <vector>

#include "base/yaml.h"

namespace weft::import {

// The last document over those before it. REQUIRES the last to be a mapping.
void lay_over(std::vector<YamlNode>& documents, Diagnostics& diagnostics);

}  // namespace weft::import
