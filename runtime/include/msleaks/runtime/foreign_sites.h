// Places in instrumented code that are not the user's own lines: their events need the path that led there.
#pragma once

#include "msleaks/abi/site_table.h"
#include "msleaks/runtime/thread.h"

namespace msleaks::runtime {

// A bit for each site number, in chunks that are made when they are needed. A fork's child has its parent's bits, as it
// has its parent's site numbers.
inline constexpr uint32_t kSitesOfChunk = 1u << 16;
inline constexpr uint32_t kSiteChunks = abi::kPathSite / kSitesOfChunk;

} // namespace msleaks::runtime

extern "C" {
[[gnu::visibility("default")]] extern uint64_t *__msl_foreign_sites[msleaks::runtime::kSiteChunks];
}

namespace msleaks::runtime {

// `site` is a row of a unit.
[[gnu::always_inline]] inline bool isForeign(uint32_t site) noexcept {
  const uint64_t *chunk = __atomic_load_n(&__msl_foreign_sites[site / kSitesOfChunk], __ATOMIC_ACQUIRE);
  return chunk != nullptr &&
         (__atomic_load_n(&chunk[site % kSitesOfChunk / 64], __ATOMIC_RELAXED) >> site % 64 & 1) != 0;
}

} // namespace msleaks::runtime
