#include "kernel_arguments.h"

namespace msleaks::runtime {

constinit KernelArguments kernel_arguments;

// Returns the slot of the key, or null if the table is full. A new key gets a free slot.
KernelArguments::Slot *KernelArguments::slotFor(uint64_t key) noexcept {
  for (uint32_t probe = 0; probe < kMostProbes; ++probe) {
    Slot &slot = slots_[(home(key) + probe) % kSlots];
    uint64_t known = slot.key.load(std::memory_order_acquire);
    if (known == key || (known == 0 && slot.key.compare_exchange_strong(known, key)) || known == key)
      return &slot;
  }
  return nullptr;
}

uint64_t KernelArguments::valueOf(uint64_t key) const noexcept {
  for (uint32_t probe = 0; probe < kMostProbes; ++probe) {
    const Slot &slot = slots_[(home(key) + probe) % kSlots];
    const uint64_t known = slot.key.load(std::memory_order_acquire);
    if (known == key)
      return slot.value.load(std::memory_order_relaxed);
    if (known == 0)
      return 0;
  }
  return 0;
}

// If there is no slot for the kernel's count of arguments, isKnown() stays false.
void KernelArguments::set(uint64_t kernel, uint32_t index, uint64_t word) noexcept {
  Slot *count = slotFor(keyOf(kernel, kCount));
  if (count == nullptr)
    return;
  if (count->value.load(std::memory_order_relaxed) < index + uint64_t{2})
    count->value.store(index + uint64_t{2}, std::memory_order_relaxed);
  if (index >= kMostOfKernel)
    return;
  if (Slot *slot = slotFor(keyOf(kernel, index)))
    slot->value.store(word != 0 ? word : kNoAddress, std::memory_order_relaxed);
}

void KernelArguments::describe(uint64_t kernel, const abi::ArgumentRows &rows) noexcept {
  const auto *row = static_cast<const char *>(rows.rows);
  for (uint32_t index = 0; index < rows.count && index < kMostOfKernel; ++index, row += rows.row_bytes)
    if (Slot *slot = slotFor(keyOf(kernel, kRows + index)))
      slot->value.store(reinterpret_cast<uint64_t>(row), std::memory_order_relaxed);
  if (rows.uses_others)
    if (Slot *slot = slotFor(keyOf(kernel, kOthers)))
      slot->value.store(1, std::memory_order_relaxed);
}

void KernelArguments::forget(uint64_t kernel, uint32_t entry) noexcept {
  if (valueOf(keyOf(kernel, entry)) != 0)
    slotFor(keyOf(kernel, entry))->value.store(0, std::memory_order_relaxed);
}

void KernelArguments::begin(uint64_t kernel, Given given) noexcept {
  const uint64_t count = valueOf(keyOf(kernel, kCount));
  for (uint32_t index = 0; index + 1 < count && index < kMostOfKernel; ++index)
    forget(kernel, index);
  for (uint32_t index = 0; index < kMostOfKernel && valueOf(keyOf(kernel, kRows + index)) != 0; ++index)
    forget(kernel, kRows + index);
  forget(kernel, kOthers);
  if (Slot *slot = given == Given::Unknown ? slotFor(keyOf(kernel, kOthers)) : nullptr)
    slot->value.store(1, std::memory_order_relaxed); // arguments that are not set again are those of the copied kernel
  if (Slot *slot = slotFor(keyOf(kernel, kCount)))
    slot->value.store(given == Given::None ? 1 : 0, std::memory_order_relaxed);
}

} // namespace msleaks::runtime
