#include "kernel_names.h"

#include "drivers.h"
#include "label_table.h"
#include "system.h"

#include "msleaks/runtime/note.h"

namespace msleaks::runtime {

constinit std::atomic<KernelNames *> kernel_names{nullptr};

KernelNames::Slot *KernelNames::slotFor(uint64_t kernel) noexcept {
  for (uint32_t probe = 0; probe < kMostProbes; ++probe) {
    Slot &slot = slots_[(home(kernel) + probe) % kSlots];
    uint64_t known = slot.kernel.load(std::memory_order_acquire);
    if (known == kernel || (known == 0 && slot.kernel.compare_exchange_strong(known, kernel)) || known == kernel)
      return &slot;
  }
  return nullptr;
}

namespace {

constinit std::atomic<bool> is_full{false};

// Makes the table of names if it does not exist yet. Returns null if there is no memory.
KernelNames *makeNames() noexcept {
  const ArenaHeld held;
  KernelNames *names = kernel_names.load(std::memory_order_relaxed);
  if (held && names == nullptr) {
    names = static_cast<KernelNames *>(mapAnonymous(sizeof(KernelNames)));
    kernel_names.store(names, std::memory_order_release);
  }
  return names;
}

KernelNames::Slot *slotOf(uint64_t kernel) noexcept {
  if (kernel == 0 || is_full.load(std::memory_order_relaxed))
    return nullptr;
  KernelNames *names = kernel_names.load(std::memory_order_acquire);
  if (names == nullptr)
    names = makeNames();
  KernelNames::Slot *slot = names != nullptr ? names->slotFor(kernel) : nullptr;
  if (slot == nullptr && !is_full.exchange(true, std::memory_order_relaxed))
    __msl_note("too many different kernels: the names of further kernels are not recorded");
  return slot;
}

// Asks the driver for the kernel's name, and returns the name's label. Calls of the driver inside this request are not
// recorded, since the program did not make them.
uint64_t ask(abi::Family family, uint64_t kernel) noexcept {
  const hook::Device *device = driverOf(family);
  if (device == nullptr || device->name == nullptr)
    return KernelNames::kUnnamed;
  const ErrnoKept kept;
  const Inside inside(__msl_thread, insideOf(family));
  char text[512];
  if (device->name(reinterpret_cast<const void *>(kernel), text, sizeof text) != 0 || text[0] == 0)
    return KernelNames::kUnnamed;
  const uint64_t label = labelOf(text);
  return label != 0 ? label : KernelNames::kUnnamed;
}

uint64_t labelIn(KernelNames::Slot &slot, abi::Family family, uint64_t kernel) noexcept {
  uint64_t label = slot.label.load(std::memory_order_relaxed);
  if (label == 0)
    slot.label.store(label = ask(family, kernel), std::memory_order_relaxed);
  return label != KernelNames::kUnnamed ? label : 0;
}

} // namespace

// Records the kernel's name. If two threads launch a kernel for the first time at the same time, both may record its
// name.
void tellKernelNow(Thread &thread, abi::Traits row, uint64_t kernel) noexcept {
  if (!isEnabled(abi::EventKind::Kernel) || thread.call.inside == kInsideRuntime)
    return;
  ensureAttached(thread);
  KernelNames::Slot *slot = isEnabled(abi::EventKind::Kernel) ? slotOf(kernel) : nullptr;
  if (slot == nullptr)
    return;
  const uint64_t stamp = stampNow();
  if (const uint64_t label = labelIn(*slot, row.family(), kernel); label != 0)
    record(thread, abi::KernelEvent{{abi::EventKind::Kernel, abi::Heap::Device, 0, row.flags(), 0, 0}, kernel, label});
  slot->told.store(stamp, std::memory_order_relaxed);
}

uint64_t labelOfKernel(abi::Family family, uint64_t kernel) noexcept {
  KernelNames::Slot *slot = slotOf(kernel);
  return slot != nullptr ? labelIn(*slot, family, kernel) : 0;
}

void kernelBegins(uint64_t kernel) noexcept {
  KernelNames *names = kernel_names.load(std::memory_order_acquire);
  if (KernelNames::Slot *slot = names != nullptr ? names->find(kernel) : nullptr; slot != nullptr) {
    slot->label.store(0, std::memory_order_relaxed);
    slot->told.store(0, std::memory_order_relaxed);
  }
}

} // namespace msleaks::runtime

using namespace msleaks;
using namespace msleaks::runtime;

void __msl_hook_kernel(uint32_t, const void *kernel, const char *name) noexcept {
  Thread &thread = __msl_thread;
  if (kernel == nullptr || name == nullptr || isInert() || thread.call.inside == kInsideRuntime)
    return;
  ensureAttached(thread);
  KernelNames::Slot *slot = slotOf(reinterpret_cast<uint64_t>(kernel));
  if (slot == nullptr)
    return;
  const uint64_t given = labelOf(name), label = given != 0 ? given : KernelNames::kUnnamed; // the driver is never asked
  if (slot->label.load(std::memory_order_relaxed) == label)
    return;
  slot->label.store(label, std::memory_order_relaxed);
  slot->told.store(0, std::memory_order_relaxed);
}
