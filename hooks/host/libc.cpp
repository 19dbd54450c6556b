// Hooks of the C heap. They are compiled with -fno-builtin-malloc and so on: the compiler must not assume that these
// functions are the standard ones.
#include "host/direct_call.h"

#include "msleaks/runtime/page.h"

#include <cstring>

using namespace msleaks::hooks;

namespace {

// Moves a block that was allocated before the real functions were found. They do not know such a block. Any other block
// cannot be moved without the real functions: the result is null.
void *moveBootstrap(const void *old, size_t size) noexcept {
  if (old == nullptr)
    return ::malloc(size);
  if (!isBootstrap(old))
    return nullptr;
  const uint64_t rest = reinterpret_cast<uintptr_t>(bootstrap) + kBootstrapBytes - reinterpret_cast<uintptr_t>(old);
  void *block = ::malloc(size);
  if (block != nullptr)
    std::memcpy(block, old, size < rest ? size : rest);
  return block;
}

[[gnu::always_inline]] inline void *callMalloc(size_t size, uint32_t site) noexcept {
  const auto function = found(real.malloc, site);
  if (function == nullptr) [[unlikely]]
    return bootstrapAllocate(size);
  return hookAlloc<Row::malloc>(size, site, [=] { return function(size); });
}

[[gnu::always_inline]] inline void *callCalloc(size_t count, size_t size, uint32_t site) noexcept {
  const auto function = found(real.calloc, site);
  if (function == nullptr) [[unlikely]]
    return bootstrapAllocate(product(count, size));
  return hookAlloc<Row::calloc>(product(count, size), site, [=] { return function(count, size); });
}

[[gnu::always_inline]] inline void callFree(void *block, uint32_t site) noexcept {
  const auto function = found(real.free, site);
  if (block == nullptr || isBootstrap(block) || function == nullptr) [[unlikely]]
    return;
  hookFree<Row::free>(block, site, [=] { function(block); });
}

} // namespace

#define MSL_DIRECT_HOOK(result, body, ...)                                                                             \
  MSL_DECLARE_EXPORTED(result, __VA_ARGS__)                                                                            \
  MSL_DEFINE_EXPORTED(result, body, __VA_ARGS__)                                                                       \
  MSL_DEFINE_DIRECT(result, body, __VA_ARGS__)

MSL_DIRECT_HOOK(void *, callMalloc, malloc, size_t)
MSL_DIRECT_HOOK(void *, callCalloc, calloc, size_t, size_t)
MSL_DIRECT_HOOK(void, callFree, free, void *)

#pragma GCC visibility push(default)
extern "C" {

void *realloc(void *block, size_t size) noexcept {
  const auto function = found(real.realloc);
  if (function == nullptr || isBootstrap(block)) [[unlikely]]
    return moveBootstrap(block, size);
  return hookRealloc<Row::realloc>(block, size, msleaks::runtime::callerFrame(), [=] { return function(block, size); });
}

void *reallocarray(void *block, size_t count, size_t size) noexcept {
  const auto function = found(real.reallocarray);
  if (function == nullptr || isBootstrap(block)) [[unlikely]]
    return moveBootstrap(block, product(count, size));
  return hookRealloc<Row::reallocarray>(block, product(count, size), msleaks::runtime::callerFrame(),
                                        [=] { return function(block, count, size); });
}

void *aligned_alloc(size_t alignment, size_t size) noexcept {
  const auto function = found(real.aligned_alloc);
  if (function == nullptr) [[unlikely]]
    return bootstrapAllocate(size, alignment);
  return hookAlloc<Row::aligned_alloc>(size, 0, [=] { return function(alignment, size); });
}

void *memalign(size_t alignment, size_t size) noexcept {
  const auto function = found(real.memalign);
  if (function == nullptr) [[unlikely]]
    return bootstrapAllocate(size, alignment);
  return hookAlloc<Row::memalign>(size, 0, [=] { return function(alignment, size); });
}

int posix_memalign(void **where, size_t alignment, size_t size) noexcept {
  const auto function = found(real.posix_memalign);
  if (function == nullptr) [[unlikely]]
    return (*where = bootstrapAllocate(size, alignment)) != nullptr ? 0 : ENOMEM;
  int status = 0, left = 0;
  hookAlloc<Row::posix_memalign>(size, 0, [=, &status, &left]() -> void * {
    status = function(where, alignment, size);
    left = errno;
    errno = status; // a failure is recorded with errno
    return status == 0 ? *where : nullptr;
  });
  errno = left; // as the real function left it
  return status;
}

void *valloc(size_t size) noexcept {
  const auto function = found(real.valloc);
  if (function == nullptr) [[unlikely]]
    return bootstrapAllocate(size, msleaks::runtime::pageBytes());
  return hookAlloc<Row::valloc>(size, 0, [=] { return function(size); });
}

void *pvalloc(size_t size) noexcept {
  const auto function = found(real.pvalloc);
  if (function == nullptr) [[unlikely]]
    return bootstrapAllocate(size, msleaks::runtime::pageBytes());
  return hookAlloc<Row::pvalloc>(size, 0, [=] { return function(size); });
}

} // extern "C"
#pragma GCC visibility pop
