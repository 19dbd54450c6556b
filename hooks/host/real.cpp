#include "host/real.h"

#include "core/registry.h"
#include "devices/told_blocks.h"
#include "host/guarded_blocks.h"

#include "msleaks/abi/direct_calls.h"

#include <atomic>
#include <gnu/libc-version.h>

namespace msleaks::hooks {

constinit RealFunctions real{};
constinit bool libc_allocates = false;
alignas(64) constinit char bootstrap[kBootstrapBytes] = {};

namespace {
enum class Search { None, Running, Done };
constinit std::atomic<Search> search{Search::None};
constinit std::atomic<uint64_t> bootstrap_used{0};

} // namespace

bool findReal() noexcept {
  Search before = Search::None;
  if (!search.compare_exchange_strong(before, Search::Running, std::memory_order_acq_rel))
    return before == Search::Done;
  // Finds all functions before it stores any. If malloc were stored before realloc is found, a block could be allocated
  // that no function can move.
  RealFunctions found;
#define MSL_HOOKED(symbol) findNext(found.symbol, #symbol);
#include "host/hooked.def"
  libc_allocates = imageOf(reinterpret_cast<const void *>(found.malloc)) ==
                   imageOf(reinterpret_cast<const void *>(&::gnu_get_libc_version));
  guardBlocks(found);
  tellBlocks(found);
#define MSL_HOOKED(symbol) __atomic_store_n(&real.symbol, found.symbol, __ATOMIC_RELEASE);
#include "host/hooked.def"
  search.store(Search::Done, std::memory_order_release);
  return true;
}

void *bootstrapAllocate(uint64_t bytes, uint64_t alignment) noexcept {
  const uint64_t wanted = bytes + alignment;
  if (wanted < bytes || wanted > kBootstrapBytes)
    return nullptr;
  const uint64_t at = bootstrap_used.fetch_add(wanted, std::memory_order_relaxed);
  if (at > kBootstrapBytes - wanted)
    return nullptr;
  const uintptr_t block = reinterpret_cast<uintptr_t>(bootstrap + at) + alignment - 1;
  return reinterpret_cast<void *>(block & ~(alignment - 1)); // the bytes are zero, since none is handed out twice
}

} // namespace msleaks::hooks

uint32_t __msl_direct_ready() noexcept { return msleaks::hooks::findReal() ? 1 : 0; }
