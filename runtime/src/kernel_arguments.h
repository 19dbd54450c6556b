// Stores the arguments of kernels, for an API that sets arguments one by one before the launch (OpenCL).
#pragma once

#include "msleaks/abi/graph_table.h"

#include <atomic>
#include <cstdint>

namespace msleaks::runtime {

// A table of a fixed size. If the program sets no arguments, the table's memory stays untouched. Several threads may
// set arguments of different kernels at the same time. The API does not allow this for one kernel.
class KernelArguments {
public:
  static constexpr uint32_t kMostOfKernel = 256;

  constexpr KernelArguments() = default;

  enum class Given : uint8_t { None, Unknown };

  // Registers a new kernel. If a released kernel had the same address, the arguments of that kernel are removed.
  void begin(uint64_t kernel, Given) noexcept;
  // Sets the argument to this word. 0 means that the argument cannot be an address.
  void set(uint64_t kernel, uint32_t index, uint64_t word) noexcept;
  // Whether the table contains the kernel. For a known kernel, forEach() passes the word 0 for an argument that the
  // table does not contain.
  bool isKnown(uint64_t kernel) const noexcept { return valueOf(keyOf(kernel, kCount)) != 0; }
  // Stores the rows that describe how the kernel uses its arguments. The rows must stay valid.
  void describe(uint64_t kernel, const abi::ArgumentRows &) noexcept;
  // For a known kernel, calls f(word, row) for each argument that may be an address. If `row` is null, the use of the
  // argument is not known. Calls f(0, null) if the kernel may also use memory that the table does not know.
  template <class F> void forEach(uint64_t kernel, F &&f) const noexcept {
    const uint64_t count = valueOf(keyOf(kernel, kCount)) - 1;
    for (uint32_t index = 0; index < count && index < kMostOfKernel; ++index)
      if (const uint64_t word = valueOf(keyOf(kernel, index)); word != kNoAddress)
        f(word, reinterpret_cast<const abi::GraphArgument *>(valueOf(keyOf(kernel, kRows + index))));
    if (count > kMostOfKernel || valueOf(keyOf(kernel, kOthers)) != 0)
      f(0, nullptr);
  }

private:
  static constexpr uint32_t kSlots = 1 << 15, kMostProbes = 128;
  static constexpr uint32_t kCount = kMostOfKernel; // the entry with the kernel's number of arguments + 1
  static constexpr uint32_t kOthers = kCount + 1;   // 1 = the kernel uses other memory, or arguments of a copied kernel
  static constexpr uint32_t kRows = kOthers + 1;    // index of the first entry with a row of the kernel's arguments
  static constexpr uint64_t kNoAddress = 1;

  struct Slot {
    std::atomic<uint64_t> key{0};
    std::atomic<uint64_t> value{0};
  };
  // A kernel's handle is an address below 1 << 48. So the shift by 16 loses no bits.
  static uint64_t keyOf(uint64_t kernel, uint32_t index) noexcept { return kernel << 16 | (index + 1); }
  static uint32_t home(uint64_t key) noexcept { return static_cast<uint32_t>(key * 0x9e37'79b9'7f4a'7c15u >> 49); }
  Slot *slotFor(uint64_t key) noexcept;
  void forget(uint64_t kernel, uint32_t entry) noexcept;
  uint64_t valueOf(uint64_t key) const noexcept;

  Slot slots_[kSlots];
};

extern constinit KernelArguments kernel_arguments;

} // namespace msleaks::runtime
