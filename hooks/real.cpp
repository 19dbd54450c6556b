#include "real.h"

#include <dlfcn.h>

namespace msleaks::hooks {

constinit RealFunctions real{};
constinit std::atomic<bool> real_found{false};
alignas(64) constinit char bootstrap[kBootstrapBytes] = {};

namespace {
constinit std::atomic<bool> finding{false};
constinit std::atomic<uint64_t> bootstrap_used{0};

template <class Function> void find(Function &function, const char *name) noexcept {
  function = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}
} // namespace

bool findReal() noexcept {
  if (finding.exchange(true, std::memory_order_acq_rel))
    return real_found.load(std::memory_order_acquire);
#define MSL_HOOKED(symbol) find(real.symbol, #symbol);
#include "hooked.def"
  real_found.store(true, std::memory_order_release);
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
  return reinterpret_cast<void *>(block & ~(alignment - 1)); // zeros: never handed out before
}

} // namespace msleaks::hooks
