// Strong 32-bit identifiers: a DeviceId cannot be passed where a LinkId is wanted.
// The value is a dense index into the owner's columns; "no value" is std::optional or kNone.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace weft {

template <class Tag>
struct Id {
  static constexpr std::uint32_t kNoneValue = 0xffffffffu;

  std::uint32_t value = kNoneValue;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : value(static_cast<std::uint32_t>(index)) {}

  [[nodiscard]] constexpr bool valid() const { return value != kNoneValue; }
  [[nodiscard]] constexpr std::size_t index() const { return value; }

  friend constexpr auto operator<=>(Id, Id) = default;
};

}  // namespace weft

template <class Tag>
struct std::hash<weft::Id<Tag>> {
  std::size_t operator()(weft::Id<Tag> id) const noexcept { return id.value; }
};
