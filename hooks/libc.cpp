// The C heap. Compiled with -fno-builtin: the compiler must not see through what is defined here.
#include "hook.h"

#include <cstring>

using namespace msleaks::hooks;

namespace {

uint64_t returnAddress(const void *address) noexcept { return reinterpret_cast<uint64_t>(address); }

// A block from before the real functions were found cannot be given to them.
void *moveBootstrap(const void *old, size_t size) noexcept {
  const uint64_t rest = reinterpret_cast<uintptr_t>(bootstrap) + kBootstrapBytes - reinterpret_cast<uintptr_t>(old);
  void *block = ::malloc(size);
  if (block != nullptr)
    std::memcpy(block, old, size < rest ? size : rest);
  return block;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

void *malloc(size_t size) noexcept {
  if (!haveReal()) [[unlikely]]
    return bootstrapAllocate(size);
  return hookAlloc<Row::malloc>(size, returnAddress(__builtin_return_address(0)), [=] { return real.malloc(size); });
}

void *calloc(size_t count, size_t size) noexcept {
  if (!haveReal()) [[unlikely]]
    return bootstrapAllocate(product(count, size));
  return hookAlloc<Row::calloc>(product(count, size), returnAddress(__builtin_return_address(0)),
                                [=] { return real.calloc(count, size); });
}

void *realloc(void *block, size_t size) noexcept {
  if (isBootstrap(block) || !haveReal()) [[unlikely]]
    return moveBootstrap(block, size);
  return hookRealloc<Row::realloc>({block, 0}, size, returnAddress(__builtin_return_address(0)), nullptr,
                                   [=] { return real.realloc(block, size); });
}

void *reallocarray(void *block, size_t count, size_t size) noexcept {
  if (isBootstrap(block) || !haveReal()) [[unlikely]]
    return moveBootstrap(block, product(count, size));
  return hookRealloc<Row::reallocarray>({block, 0}, product(count, size), returnAddress(__builtin_return_address(0)), nullptr,
                                        [=] { return real.reallocarray(block, count, size); });
}

void free(void *block) noexcept {
  if (block == nullptr || isBootstrap(block) || !haveReal()) [[unlikely]]
    return;
  msleaks::runtime::Thread &thread = __msl_thread;
  hookFree<Row::free>(thread, block, 0, returnAddress(__builtin_return_address(0)));
  const bool inside = thread.inside;
  thread.inside = true;
  real.free(block);
  thread.inside = inside;
}

void *aligned_alloc(size_t alignment, size_t size) noexcept {
  if (!haveReal()) [[unlikely]]
    return bootstrapAllocate(size, alignment);
  return hookAlloc<Row::aligned_alloc>(size, returnAddress(__builtin_return_address(0)),
                                       [=] { return real.aligned_alloc(alignment, size); });
}

void *memalign(size_t alignment, size_t size) noexcept {
  if (!haveReal()) [[unlikely]]
    return bootstrapAllocate(size, alignment);
  return hookAlloc<Row::memalign>(size, returnAddress(__builtin_return_address(0)),
                                  [=] { return real.memalign(alignment, size); });
}

int posix_memalign(void **where, size_t alignment, size_t size) noexcept {
  if (!haveReal()) [[unlikely]]
    return (*where = bootstrapAllocate(size, alignment)) != nullptr ? 0 : ENOMEM;
  int status = 0;
  hookAlloc<Row::posix_memalign>(size, returnAddress(__builtin_return_address(0)), [=, &status]() -> void * {
    status = real.posix_memalign(where, alignment, size);
    return status == 0 ? *where : nullptr;
  });
  return status;
}

void *valloc(size_t size) noexcept {
  if (!haveReal()) [[unlikely]]
    return bootstrapAllocate(size, msleaks::abi::kPageBytes);
  return hookAlloc<Row::valloc>(size, returnAddress(__builtin_return_address(0)), [=] { return real.valloc(size); });
}

void *pvalloc(size_t size) noexcept {
  if (!haveReal()) [[unlikely]]
    return bootstrapAllocate(size, msleaks::abi::kPageBytes);
  return hookAlloc<Row::pvalloc>(size, returnAddress(__builtin_return_address(0)), [=] { return real.pvalloc(size); });
}

} // extern "C"
#pragma GCC visibility pop
