// Any bytes through the parsers of quantities and the small text helpers.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "base/units.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  // Values near the largest print rounded up, past what can be read: hence the bound.
  constexpr std::int64_t kSafe = INT64_MAX / 100 * 99;
  if (const auto d = weft::parse_duration(text)) {
    CHECK(d->ps() >= 0);
    CHECK(d->ps() > kSafe || weft::parse_duration(weft::to_text(*d)));
  }
  if (const auto b = weft::parse_bytes(text)) {
    CHECK(b->count() >= 0);
    CHECK(b->count() > kSafe || weft::parse_bytes(weft::to_text(*b)));
  }
  if (const auto r = weft::parse_bit_rate(text)) {
    CHECK(r->bps() >= 0);
    CHECK(r->bps() > kSafe || weft::parse_bit_rate(weft::to_text(*r)));
    CHECK(r->bps() > kSafe || weft::parse_bit_rate(weft::to_text_bytes(*r)));
  }
  if (const auto m = weft::parse_length_m(text)) CHECK(*m >= 0);
  if (const auto n = weft::parse_nccl_size(text)) CHECK(n->count() >= 0);
  const std::vector<std::string> names{"rail", "leaf_spine", "bandwidth"};
  (void)weft::suggest(text.substr(0, 100), names);
  CHECK(weft::display_width(text) <= static_cast<int>(2 * text.size()));
  (void)weft::parse_int(text);
  (void)weft::parse_hex(text);
  (void)weft::parse_double(text);
  return 0;
}
