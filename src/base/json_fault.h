// Where a JSON text is wrong, and how. simdjson says that it is but not where, so a text that it
// has refused is read once more here, slowly. Also finds keys given twice, which simdjson lets
// pass. Accepts exactly what base/json.h accepts; a property test holds the two against each other.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

inline constexpr int kMaxJsonDepth = 256;

struct JsonFault {
  std::size_t offset = 0;
  std::string what;
};

// The first fault of `text`, or nullopt. REQUIRES well-formed UTF-8.
std::optional<JsonFault> find_json_fault(std::string_view text);

}  // namespace weft
