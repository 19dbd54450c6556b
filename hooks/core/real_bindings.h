// A table of the real functions that calls are bound to. Every call of a hook reads it without a lock. An entry belongs
// to one function, and also to a page of code that calls it, to an image, or to all look-ups.
#pragma once

#include "msleaks/abi/hook.h"

#include <atomic>
#include <cstdint>

namespace msleaks::hooks {

enum class Of : uint64_t { Page = 1, Image, Outside, Library };

// The second part of an entry's key, besides the function: a page of code, an image, or all look-ups. Never 0.
constexpr uint64_t kCodePage = 4096;
inline uint64_t keyOf(Of of, const void *address) noexcept {
  return (reinterpret_cast<uint64_t>(address) & ~(kCodePage - 1)) | static_cast<uint64_t>(of);
}

// While an entry is being written, its version is odd. Afterwards, the version has a new value.
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

// Null: the entry has another key, or is being written.
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

// Looks into the first slot for this key only. Null: look for the entry with boundTo.
[[gnu::always_inline]] inline void *boundAtHome(const hook::Function &function, uint64_t key) noexcept {
  return realIn(bindings[bindingSlot(function, key)], function, key);
}

// Returns null if the function is not known.
void *boundTo(const hook::Function &function, uint64_t key) noexcept;

// Returns how often libraries were unloaded so far. bind() does not keep an entry that was found before the last time.
uint32_t bindingEpoch() noexcept;
// Does nothing if there is no room, or if another thread is writing there. There is always room for the entry of a
// page, except among entries of other kinds.
void bind(const hook::Function &function, uint64_t key, void *real, uint32_t epoch) noexcept;

// Stores the real function that a look-up has found, if none is stored yet. Returns the stored one; null: there is no
// room.
void *bindLookUps(const hook::Function &function, void *real) noexcept;
void *boundLookUp(const hook::Function &function) noexcept;

// Returns true once for each function.
bool isNewlyMissing(const hook::Function &function) noexcept;

// Call this after libraries were unloaded. Forgets the callers and the real functions in these libraries.
void forgetUnloaded() noexcept;

// Returns where the image that contains this address begins; null: no image does, or it is not known.
const void *imageBegin(const void *address) noexcept;

} // namespace msleaks::hooks
