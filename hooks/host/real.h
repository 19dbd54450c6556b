// The real functions behind the hooks of the C heap and of mappings: the definitions in the next library.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <malloc.h>
#include <sys/mman.h>

namespace msleaks::hooks {

// One member for each hook, with the type of the hooked function. Null until the functions are found.
struct RealFunctions {
#define MSL_HOOKED(symbol) decltype(&::symbol) symbol;
#include "host/hooked.def"
};

// Hidden, so that the compiler reads a function with one instruction: no other library can define this symbol.
[[gnu::visibility("hidden")]] extern RealFunctions real;
extern bool libc_allocates; // real.malloc is libc's own

// Looks up all functions, once. False: this is still going on. A hook can be called meanwhile, because dlsym may
// allocate.
[[gnu::cold]] bool findReal() noexcept;

// Returns the base of the image that contains an address, and stores the image's path; null: no image contains it.
const void *imageOf(const void *address, const char **path = nullptr) noexcept;

// Memory for allocations while the functions are looked up. It is never freed.
inline constexpr uint64_t kBootstrapBytes = 32 << 10;
extern char bootstrap[kBootstrapBytes];

void *bootstrapAllocate(uint64_t bytes, uint64_t alignment = 16) noexcept;

[[gnu::always_inline]] inline bool isBootstrap(const void *block) noexcept {
  return reinterpret_cast<uintptr_t>(block) - reinterpret_cast<uintptr_t>(bootstrap) < kBootstrapBytes;
}

} // namespace msleaks::hooks
