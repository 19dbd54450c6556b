// Stores which sites in instrumented code are foreign. A site is foreign if none of its lines is the user's own. With
// --call-stack auto, an allocation at a foreign site gets the path of calls that led to the site.
#pragma once

#include "msleaks/abi/site_table.h"
#include "msleaks/runtime/thread.h"

namespace msleaks::runtime {

// Each site number has a bit. The runtime allocates the bits in chunks when it needs them. A fork's child inherits the
// bits and the site numbers.
inline constexpr uint32_t kSitesOfChunk = 1u << 16;
inline constexpr uint32_t kSiteChunks = abi::kPathSite / kSitesOfChunk;

} // namespace msleaks::runtime

extern "C" {
[[gnu::visibility("default")]] extern uint64_t *__msl_foreign_sites[msleaks::runtime::kSiteChunks];
}

namespace msleaks::runtime {

// Whether a site is foreign. `site` must be the site number of a row of a unit, not of a caller or a path.
[[gnu::always_inline]] inline bool isForeign(uint32_t site) noexcept {
  const uint64_t *chunk = __atomic_load_n(&__msl_foreign_sites[site / kSitesOfChunk], __ATOMIC_ACQUIRE);
  return chunk != nullptr &&
         (__atomic_load_n(&chunk[site % kSitesOfChunk / 64], __ATOMIC_RELAXED) >> site % 64 & 1) != 0;
}

} // namespace msleaks::runtime
