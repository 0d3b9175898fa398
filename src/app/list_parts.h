// weft list for the kinds of the catalogue: a table, or every figure as JSON.
#pragma once

#include <vector>

#include "app/command.h"
#include "base/json.h"
#include "import/catalogue.h"

namespace weft::app {

// --where, --columns, --sort.
std::vector<OptionSpec> part_list_options();
int list_parts(const import::PartKind& kind, const import::Catalogue& catalogue,
               const Arguments& arguments, const Streams& streams);
// One record with all its figures, as an object.
void write_part(JsonWriter& json, const import::PartRecord& record,
                const import::Catalogue& catalogue);
// Rows padded to columns, the last one as it is.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

}  // namespace weft::app
