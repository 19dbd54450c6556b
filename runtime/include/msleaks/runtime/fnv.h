// The hash FNV-1a, for data that is hashed rarely.
#pragma once

#include <cstdint>

namespace msleaks::runtime {

inline constexpr uint64_t kFnvBegin = 0xcbf2'9ce4'8422'2325;

// Continues a hash, which begins as kFnvBegin.
inline uint64_t fnv(uint64_t hash, const void *bytes, uint64_t count) noexcept {
  for (uint64_t i = 0; i < count; ++i)
    hash = (hash ^ static_cast<const unsigned char *>(bytes)[i]) * 0x100'0000'01b3;
  return hash;
}

} // namespace msleaks::runtime
