// Hooks of all forms of operator new and delete. A library may define its own (tcmalloc). Then both the allocation and
// the free of a block are recorded. Otherwise libstdc++ calls malloc. Then these hooks record the caller of the
// operator as the caller of malloc, instead of libstdc++.
//
// The hook stores the caller's site as the pending site, like a callback of the pass, and calls the real operator. The
// hook of the malloc inside takes this site. If no hook has taken it, the operator's hook records the block. So nothing
// has to be undone if the operator throws, and allocations and frees of a new_handler are recorded. If the program
// itself defines operator new, all callers find that one first, and it is not hooked.
#include "host/direct_call.h"

#include "core/loaded_image.h"
#include "core/real_search.h"
#include "core/registry.h"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <type_traits>

using namespace msleaks;
using namespace msleaks::hooks;

namespace {

constexpr abi::Family kFamily = abi::Family::Heap;

// Whether one of the parameters after the size is a std::align_val_t, which is a size_t here.
template <class... More> inline constexpr bool kAligned = (std::is_same_v<More, size_t> || ...);

// Whether no other hook has taken the site. In this case, removes it.
bool takeBack(runtime::Thread &thread, uint32_t site) noexcept {
  if (site == 0 || thread.call.site != site)
    return false;
  thread.call.site = 0;
  return true;
}

// The operators of libstdc++ only call malloc and free, unless another library replaces the plain form, which the other
// forms call. Then the hook calls malloc or free directly, on the short path. If malloc fails, the hook calls the real
// operator, which throws. The answer is stored for each real function, because a plug-in may have operators of its own.
struct KnownReal {
  std::atomic<const void *> forwards, other; // the last function of each kind
};
template <int kRow> constinit KnownReal known_real{};

// Whether no operator of this name comes before the hook.
bool isFirst(const char *symbol) noexcept {
  const hook::Function *function = findFunction(symbol);
  RealSearch found;
  return function != nullptr && searchReal(*function, nullptr, Asker::Library, found) && found.is_first;
}

bool isLibstdcxx(const void *real) noexcept {
  const char *path = "";
  return imageOf(real, &path) != nullptr && std::strncmp(fileNameOf(path), "libstdc++.so", 12) == 0;
}

[[gnu::noinline, gnu::cold]] bool findForwards(const void *real, KnownReal &known) noexcept {
  const RealFunctions &heap = ::msleaks::hooks::real;
  const bool forwards =
      isLibstdcxx(real) && isFirst("_Znwm") && isFirst("_ZdlPv") && heap.malloc != nullptr && heap.free != nullptr;
  (forwards ? known.forwards : known.other).store(real, std::memory_order_relaxed);
  return forwards;
}

template <int kRow> [[gnu::always_inline]] inline bool forwardsToMalloc(const void *real) noexcept {
  if (known_real<kRow>.forwards.load(std::memory_order_relaxed) == real) [[likely]]
    return true;
  return known_real<kRow>.other.load(std::memory_order_relaxed) != real && findForwards(real, known_real<kRow>);
}

void *realOperator(hook::Function &function, CalledFrom from) noexcept {
  return hook::realOf(function, reinterpret_cast<const void *>(from.frame.return_address));
}

constexpr uint32_t traitsOf(const abi::Symbol &row) noexcept {
  return abi::Traits(row.verb, row.family, row.heap, row.flags).packed();
}

// Whether a site that a callback or another form of the operator has left must stay for the malloc inside. A direct
// call has its own site, which overwrites the other one.
bool isLeft(const runtime::Thread &thread, CalledFrom from) noexcept {
  return !runtime::isPlain(thread) && (from.site == 0 || runtime::isInside(thread, kFamily));
}

template <int kRow, class... More>
[[gnu::always_inline]] inline void *hookNew(hook::Function &function, uint32_t direct_site, size_t size, More... more) {
  const CalledFrom from{runtime::callerFrame(), direct_site};
  auto *real = reinterpret_cast<void *(*)(size_t, More...)>(realOperator(function, from));
  if (real == nullptr) [[unlikely]]
    return ::malloc(size != 0 ? size : 1); // there is no operator: the program got the hook from dlsym
  runtime::Thread &thread = __msl_thread;
  const uint32_t enabled = runtime::enabledWord();
  if ((enabled & abi::enabledBit(abi::EventKind::Alloc)) == 0 || isLeft(thread, from))
    return real(size, more...);
  if (!kAligned<More...> && runtime::isPlain(thread) && (enabled & abi::kKernelEvidence) == 0 &&
      forwardsToMalloc<kRow>(reinterpret_cast<const void *>(real))) {
    void *block = callPlainInside(thread, kFamily, [=] { return ::msleaks::hooks::real.malloc(size != 0 ? size : 1); });
    if (block != nullptr) [[likely]] {
      runtime::recordEnabled(thread, abi::AllocEvent{{abi::EventKind::Alloc, abi::Heap::Host, 0, abi::kFromHook,
                                                      pathOf(enabled, from.site, from.frame), 0},
                                                     reinterpret_cast<uint64_t>(block),
                                                     size});
      return block;
    }
  }
  const uint32_t site = pathOf(enabled, from.site, from.frame); // 0 = no number: then the hook of malloc records the
                                                                // block
  runtime::leavePending(thread, {site, traitsOf(abi::kSymbols[kRow]), runtime::kAnyBlock});
  void *block = real(size, more...);
  if (takeBack(thread, site))
    recordResult<kRow>(site, site, abi::kSymbols[kRow].flags, block, size);
  return block;
}

template <int kRow, class... More>
[[gnu::always_inline]] inline void hookDelete(hook::Function &function, uint32_t direct_site, void *block,
                                              More... more) {
  const CalledFrom from{runtime::callerFrame(), direct_site};
  auto *real = reinterpret_cast<void (*)(void *, More...)>(realOperator(function, from));
  if (real == nullptr) [[unlikely]]
    return ::free(block);
  runtime::Thread &thread = __msl_thread;
  if (block != nullptr && runtime::isPlain(thread) && forwardsToMalloc<kRow>(reinterpret_cast<const void *>(real)))
    return hookFree<kRow>(block, direct_site, [=] { ::msleaks::hooks::real.free(block); });
  if (block == nullptr || runtime::isInside(thread, kFamily) || !runtime::isEnabled(abi::EventKind::Free))
    return real(block, more...);
  const auto address = reinterpret_cast<uint64_t>(block);
  const abi::Symbol &row = abi::kSymbols[kRow];
  // Whether a callback, or another form of the operator, has recorded the free and left its site.
  uint32_t site = thread.call.site;
  const bool recorded = site != 0 && thread.pending_address == address &&
                        abi::Traits(thread.pending_traits).family() == kFamily &&
                        abi::Traits(thread.pending_traits).verb() == abi::Verb::Free;
  if (!recorded) {
    site = siteOfFree(from);
    if (site == 0)
      return real(block, more...);
    runtime::recordFree(row.heap, row.flags | abi::kFromHook, site, address, 0);
    runtime::leavePending(thread, {site, traitsOf(row), address});
  }
  real(block, more...);
  takeBack(thread, site);
}

} // namespace

using Align = size_t;         // std::align_val_t
using NoThrow = const void *; // const std::nothrow_t &

#define MSL_OPERATOR(result, hookIt, symbol, ...)                                                                      \
  MSL_DECLARE_EXPORTED(result, symbol, __VA_ARGS__)                                                                    \
  [[gnu::used, gnu::section("msl_hooks")]] static hook::Function function_of##symbol = {                               \
      "libstdc++", #symbol, reinterpret_cast<void *>(&hook##symbol), nullptr};                                         \
  [[gnu::always_inline]] static inline result call##symbol(MSL_HOOK_EACH(MSL_HOOK_DECLARE, __VA_ARGS__),               \
                                                           uint32_t site) {                                            \
    return hookIt<Row::symbol>(function_of##symbol, site, MSL_HOOK_EACH(MSL_HOOK_NAME, __VA_ARGS__));                  \
  }                                                                                                                    \
  MSL_DEFINE_EXPORTED(result, call##symbol, symbol, __VA_ARGS__)

#define MSL_DIRECT_OPERATOR(result, hookIt, symbol, ...)                                                               \
  MSL_OPERATOR(result, hookIt, symbol, __VA_ARGS__)                                                                    \
  MSL_DEFINE_DIRECT(result, call##symbol, symbol, __VA_ARGS__)

MSL_DIRECT_OPERATOR(void *, hookNew, _Znwm, size_t)
MSL_DIRECT_OPERATOR(void *, hookNew, _Znam, size_t)
MSL_OPERATOR(void *, hookNew, _ZnwmRKSt9nothrow_t, size_t, NoThrow)
MSL_OPERATOR(void *, hookNew, _ZnamRKSt9nothrow_t, size_t, NoThrow)
MSL_OPERATOR(void *, hookNew, _ZnwmSt11align_val_t, size_t, Align)
MSL_OPERATOR(void *, hookNew, _ZnamSt11align_val_t, size_t, Align)
MSL_OPERATOR(void *, hookNew, _ZnwmSt11align_val_tRKSt9nothrow_t, size_t, Align, NoThrow)
MSL_OPERATOR(void *, hookNew, _ZnamSt11align_val_tRKSt9nothrow_t, size_t, Align, NoThrow)
MSL_DIRECT_OPERATOR(void, hookDelete, _ZdlPv, void *)
MSL_DIRECT_OPERATOR(void, hookDelete, _ZdaPv, void *)
MSL_DIRECT_OPERATOR(void, hookDelete, _ZdlPvm, void *, size_t)
MSL_DIRECT_OPERATOR(void, hookDelete, _ZdaPvm, void *, size_t)
MSL_OPERATOR(void, hookDelete, _ZdlPvRKSt9nothrow_t, void *, NoThrow)
MSL_OPERATOR(void, hookDelete, _ZdaPvRKSt9nothrow_t, void *, NoThrow)
MSL_OPERATOR(void, hookDelete, _ZdlPvSt11align_val_t, void *, Align)
MSL_OPERATOR(void, hookDelete, _ZdaPvSt11align_val_t, void *, Align)
MSL_OPERATOR(void, hookDelete, _ZdlPvmSt11align_val_t, void *, size_t, Align)
MSL_OPERATOR(void, hookDelete, _ZdaPvmSt11align_val_t, void *, size_t, Align)
MSL_OPERATOR(void, hookDelete, _ZdlPvSt11align_val_tRKSt9nothrow_t, void *, Align, NoThrow)
MSL_OPERATOR(void, hookDelete, _ZdaPvSt11align_val_tRKSt9nothrow_t, void *, Align, NoThrow)
