// Records ranges whose numbers are chosen by another library (hooks/marks/roctx.cpp).
#pragma once

#include <cstdint>

extern "C" {
// Begins a range as msl_range_start does, but with a given number. The number must be one that msl_range_start never
// returns.
[[gnu::visibility("default")]] void __msl_range_start_as(const char *text, uint64_t id) noexcept;
}

namespace msleaks::runtime {

inline constexpr uint64_t kForeignRange = uint64_t{1} << 63;

} // namespace msleaks::runtime
