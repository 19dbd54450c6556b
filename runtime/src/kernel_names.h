// Records the names of kernels. A name is recorded (a Kernel event) before the kernel's first recorded launch in this
// process. If recording is paused and starts again, the names are recorded again, since a reader may not have the
// earlier events.
#pragma once

#include "ring.h"
#include "session.h"

#include "msleaks/runtime/record.h"

#include <atomic>
#include <cstdint>

namespace msleaks::runtime {

// A table of a fixed size. The key is the kernel's handle. Entries are never removed.
class KernelNames {
public:
  static constexpr uint64_t kUnnamed = UINT64_MAX; // label of a kernel without a name

  struct Slot {
    std::atomic<uint64_t> kernel;
    std::atomic<uint64_t> label; // 0 = the driver was not asked for the name yet
    std::atomic<uint64_t> told;  // stampNow() when the name was recorded last
  };

  // Returns the kernel's slot. A kernel without a slot gets a free slot. Returns null if the table is full.
  Slot *slotFor(uint64_t kernel) noexcept;
  Slot *find(uint64_t kernel) noexcept;
  bool isTold(uint64_t kernel, uint64_t stamp) noexcept {
    const Slot *slot = find(kernel);
    return slot != nullptr && slot->told.load(std::memory_order_relaxed) == stamp;
  }

  static constexpr uint32_t kSlots = 1 << 14, kMostProbes = 32;

private:
  static uint32_t home(uint64_t kernel) noexcept {
    return static_cast<uint32_t>(kernel * 0x9e37'79b9'7f4a'7c15u >> 50);
  }

  Slot slots_[kSlots];
};

inline KernelNames::Slot *KernelNames::find(uint64_t kernel) noexcept {
  for (uint32_t probe = 0; probe < kMostProbes; ++probe) {
    Slot &slot = slots_[(home(kernel) + probe) % kSlots];
    const uint64_t known = slot.kernel.load(std::memory_order_acquire);
    if (known == kernel)
      return &slot;
    if (known == 0)
      return nullptr;
  }
  return nullptr;
}

// The table of this process; null before the first kernel. A fork's child inherits the table, and records the names
// again.
extern constinit std::atomic<KernelNames *> kernel_names;

// Returns a number that differs between a process and its fork's child, and changes when the session starts to record
// again.
inline uint64_t stampNow() noexcept {
  const abi::ControlPage *control = session.control;
  const uint64_t epoch = control != nullptr ? control->epoch.load(std::memory_order_relaxed) : 0;
  return __atomic_load_n(&__msl_process.state, __ATOMIC_RELAXED) << 32 | static_cast<uint32_t>(epoch);
}

[[gnu::cold]] void tellKernelNow(Thread &, abi::Traits row, uint64_t kernel) noexcept;

// Records the kernel's name, if it was not recorded yet. Call this before each launch.
[[gnu::always_inline]] inline void tellKernel(Thread &thread, abi::Traits row, uint64_t kernel) noexcept {
  KernelNames *names = kernel_names.load(std::memory_order_acquire);
  if (kernel != 0 && (names == nullptr || !names->isTold(kernel, stampNow()))) [[unlikely]]
    tellKernelNow(thread, row, kernel);
}

// Returns the name's label; 0 = the name is not known.
uint64_t labelOfKernel(abi::Family, uint64_t kernel) noexcept;

// Removes the name of an earlier kernel with this handle. Call this when a new kernel gets the handle.
void kernelBegins(uint64_t kernel) noexcept;

} // namespace msleaks::runtime
