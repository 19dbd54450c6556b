#include "foreign_sites.h"

#include "system.h"

#include <cstddef>

constinit uint64_t *__msl_foreign_sites[msleaks::runtime::kSiteChunks]{};

namespace msleaks::runtime {
namespace {

void mark(uint32_t site) noexcept {
  uint64_t *&chunk = __msl_foreign_sites[site / kSitesOfChunk];
  if (chunk == nullptr) {
    auto *made = static_cast<uint64_t *>(mapAnonymous(kSitesOfChunk / 8));
    if (made == nullptr)
      return; // events at this site get no path
    __atomic_store_n(&chunk, made, __ATOMIC_RELEASE);
  }
  __atomic_fetch_or(&chunk[site % kSitesOfChunk / 64], uint64_t{1} << site % 64, __ATOMIC_RELAXED);
}

} // namespace

void markForeign(const abi::UnitHeader &table, uint32_t base) noexcept {
  constexpr uint64_t kNeeded = offsetof(abi::SiteRow, flags) + sizeof(abi::SiteRow::flags);
  const uint64_t end = table.header_bytes + uint64_t{table.row_count} * table.row_bytes;
  if (table.row_bytes < kNeeded || end > table.total_bytes)
    return;
  const auto *rows = reinterpret_cast<const unsigned char *>(&table) + table.header_bytes;
  for (uint32_t row = 0; row < table.row_count; ++row)
    if ((rows[uint64_t{row} * table.row_bytes + offsetof(abi::SiteRow, flags)] & abi::kForeignPlace) != 0)
      mark(base + row);
}

} // namespace msleaks::runtime
