// What every hook does around the real function. The row of symbols.def says which family, heap and flags.
#pragma once

#include "real.h"

#include "msleaks/runtime/caller.h"
#include "msleaks/runtime/pending.h"

#include <cerrno>

namespace msleaks::hooks {

namespace Row = abi::detail::Row;

// The real function runs with `inside` set: what an allocator calls for its own needs is not the program's.
template <class Call> [[gnu::always_inline]] inline auto callReal(runtime::Thread &thread, Call call) noexcept {
  thread.inside = true;
  const auto result = call();
  thread.inside = false;
  return result;
}

// The site that a callback left, or the place in the code that called the hook.
[[gnu::always_inline]] inline uint32_t siteOr(uint32_t left, uint64_t caller) noexcept {
  return left != 0 ? left : runtime::callerSite(caller);
}

template <int kRow>
[[gnu::always_inline]] inline void recordResult(uint32_t site, uint8_t flags, const void *block, uint64_t size_bytes) noexcept {
  constexpr const abi::Symbol &row = abi::kSymbols[kRow];
  if (block != nullptr) [[likely]]
    runtime::recordAlloc(row.heap, flags | abi::kFromHook, site, reinterpret_cast<uint64_t>(block), size_bytes);
  else if (size_bytes != 0)
    runtime::recordAllocFailed(row.heap, flags | abi::kFromHook, site, size_bytes, static_cast<uint64_t>(errno));
}

// Around an allocator that returns the block.
template <int kRow, class Call>
[[gnu::always_inline]] inline void *hookAlloc(uint64_t size_bytes, uint64_t caller, Call call) noexcept {
  constexpr const abi::Symbol &row = abi::kSymbols[kRow];
  runtime::Thread &thread = __msl_thread;
  if (thread.inside || !runtime::isEnabled(abi::EventKind::Alloc))
    return call();
  const uint32_t left = runtime::takeAllocSite(thread, row.family);
  void *block = callReal(thread, call);
  recordResult<kRow>(siteOr(left, caller), row.flags, block, size_bytes);
  return block;
}

// Before the block goes back, or another thread may get its address first.
template <int kRow>
[[gnu::always_inline]] inline void hookFree(runtime::Thread &thread, const void *block, uint64_t size_bytes, uint64_t caller) noexcept {
  constexpr const abi::Symbol &row = abi::kSymbols[kRow];
  const auto address = reinterpret_cast<uint64_t>(block);
  if (thread.inside || !runtime::isEnabled(abi::EventKind::Free))
    return;
  if (runtime::takeBlockSite(thread, row.family, row.verb, address).site == 0)
    runtime::recordFree(row.heap, row.flags | abi::kFromHook, runtime::callerSite(caller), address, size_bytes);
}

struct OldBlock {
  const void *address;
  uint64_t size_bytes; // where the API names it
};

// Around a realloc: Free before, Alloc after; the old block again when it fails. `failed` is the API's way to say no.
template <int kRow, class Call>
[[gnu::always_inline]] inline void *hookRealloc(const OldBlock &old, uint64_t size_bytes, uint64_t caller, void *failed, Call call) noexcept {
  constexpr const abi::Symbol &row = abi::kSymbols[kRow];
  runtime::Thread &thread = __msl_thread;
  if (thread.inside || __msl_enabled->load(std::memory_order_relaxed) == 0)
    return call();
  const auto address = reinterpret_cast<uint64_t>(old.address);
  const runtime::PendingSite left = runtime::takeBlockSite(thread, row.family, row.verb, address);
  const uint32_t site = siteOr(left.site, caller);
  const uint8_t flags = address != 0 ? row.flags : row.flags & ~abi::kRealloc;
  if (address != 0 && (left.site == 0 || left.address == runtime::kAnyBlock))
    runtime::recordFree(row.heap, flags | abi::kFromHook, site, address, old.size_bytes);
  void *block = callReal(thread, call);
  const bool refused = block == failed && size_bytes != 0; // realloc(p, 0) gave p back
  if (refused && address != 0)
    runtime::recordAlloc(row.heap, flags | abi::kRestored | abi::kFromHook, site, address, old.size_bytes);
  recordResult<kRow>(site, refused ? row.flags & ~abi::kRealloc : flags, block == failed ? nullptr : block, size_bytes);
  return block;
}

[[gnu::always_inline]] inline uint64_t product(uint64_t count, uint64_t size_bytes) noexcept {
  uint64_t bytes = 0;
  return __builtin_mul_overflow(count, size_bytes, &bytes) ? UINT64_MAX : bytes; // the real one refuses it
}

} // namespace msleaks::hooks
