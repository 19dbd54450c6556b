// Ranges whose numbers somebody else gives (hooks/roctx.cpp).
#pragma once

#include <cstdint>

extern "C" {
// As msl_range_start, with the number of its end: one that msl_range_start never gives.
[[gnu::visibility("default")]] void __msl_range_start_as(const char *text, uint64_t id) noexcept;
}

namespace msleaks::runtime {

inline constexpr uint64_t kForeignRange = uint64_t{1} << 63;

} // namespace msleaks::runtime
