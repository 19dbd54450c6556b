// A table of the real functions that calls are bound to. Every call of a hook reads it without a lock. An entry
// belongs to one function and to a page of code that calls it, to an image, or to all look-ups.
#pragma once

#include "msleaks/abi/hook.h"

#include <atomic>
#include <cstdint>

namespace msleaks::hooks {

enum class Of : uint64_t { Page = 1, Image, Outside, Library };

// The key of an entry beside its function: a page of code, an image, or all look-ups. Never 0.
constexpr uint64_t kCodePage = 4096;
inline uint64_t keyOf(Of of, const void *address) noexcept {
  return (reinterpret_cast<uint64_t>(address) & ~(kCodePage - 1)) | static_cast<uint64_t>(of);
}

// Its version is odd while it is written, and another one afterwards.
struct Binding {
  std::atomic<uint64_t> key; // 0 = free
  std::atomic<const hook::Function *> function;
  std::atomic<void *> real;
  std::atomic<uint32_t> version;
};

inline constexpr uint32_t kBindings = 1u << 15, kBindingProbes = 8;
[[gnu::visibility("hidden")]] extern Binding bindings[kBindings];

inline uint32_t bindingSlot(const hook::Function &function, uint64_t key) noexcept {
  return static_cast<uint32_t>((key + reinterpret_cast<uint64_t>(&function) * 5) * 0x9e3779b97f4a7c15u >> 49);
}
static_assert(kBindings == 1u << (64 - 49));

// Null: it is another one's, or just being written.
[[gnu::always_inline]] inline void *realIn(const Binding &binding, const hook::Function &function,
                                           uint64_t key) noexcept {
  const uint32_t version = binding.version.load(std::memory_order_acquire);
  if (binding.key.load(std::memory_order_relaxed) != key ||
      binding.function.load(std::memory_order_relaxed) != &function)
    return nullptr;
  void *const real = binding.real.load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  return version % 2 == 0 && binding.version.load(std::memory_order_relaxed) == version ? real : nullptr;
}

// Where an entry is, unless another one was there first. Null: look for it with boundTo.
[[gnu::always_inline]] inline void *boundAtHome(const hook::Function &function, uint64_t key) noexcept {
  return realIn(bindings[bindingSlot(function, key)], function, key);
}

// Null: not known.
void *boundTo(const hook::Function &function, uint64_t key) noexcept;

// Counts the times that libraries went: an entry that was worked out before is not kept.
uint32_t bindingEpoch() noexcept;
// Left out where the table is full, or another thread is writing there.
void bind(const hook::Function &function, uint64_t key, void *real, uint32_t epoch) noexcept;

// The real function that look-ups of this function have found; the first one stays. Returns which one it is.
void *bindLookUps(const hook::Function &function, void *real) noexcept;
void *boundLookUp(const hook::Function &function) noexcept;

// True once for each function.
bool isNewlyMissing(const hook::Function &function) noexcept;

// After libraries were unloaded: what was bound there, or to a function there, is not known any more.
void forgetUnloaded() noexcept;

// Where the image with this address begins; null: in none, or nobody can say.
const void *imageBegin(const void *address) noexcept;

} // namespace msleaks::hooks
