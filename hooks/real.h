// The functions behind the hooks, as the next library in line defines them.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <malloc.h>
#include <sys/mman.h>

namespace msleaks::hooks {

// A member a hook, of the hooked function's own type; null until they are looked up.
struct RealFunctions {
#define MSL_HOOKED(symbol) decltype(&::symbol) symbol;
#include "hooked.def"
};

// Hidden, so that the compiler reads a function with one instruction: no other library can define this symbol.
[[gnu::visibility("hidden")]] extern RealFunctions real;
extern bool libc_allocates; // real.malloc is libc's own

// Looks all of them up, once. False while that is going on: dlsym itself may allocate.
[[gnu::cold]] bool findReal() noexcept;

// The base of the image that an address lies in, and its path; null = in none.
const void *imageOf(const void *address, const char **path = nullptr) noexcept;

// Memory for allocations in that moment. Never given back.
inline constexpr uint64_t kBootstrapBytes = 32 << 10;
extern char bootstrap[kBootstrapBytes];

void *bootstrapAllocate(uint64_t bytes, uint64_t alignment = 16) noexcept;

[[gnu::always_inline]] inline bool isBootstrap(const void *block) noexcept {
  return reinterpret_cast<uintptr_t>(block) - reinterpret_cast<uintptr_t>(bootstrap) < kBootstrapBytes;
}

} // namespace msleaks::hooks
