// Ranges whose numbers another library gives (hooks/roctx.cpp).
#pragma once

#include <cstdint>

extern "C" {
// Begins a range as msl_range_start does, with a given number. msl_range_start must never give that number.
[[gnu::visibility("default")]] void __msl_range_start_as(const char *text, uint64_t id) noexcept;
}

namespace msleaks::runtime {

inline constexpr uint64_t kForeignRange = uint64_t{1} << 63;

} // namespace msleaks::runtime
