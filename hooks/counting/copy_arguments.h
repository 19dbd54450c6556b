// The arguments of a launch of a module's kernel, and of its counted copy.
#pragma once

#include "counting/counted_kernels.h"

#include <cstring>
#include <utility>

namespace msleaks::hooks {

inline constexpr uintptr_t kPackedPlace = 1, kPackedBytes = 2; // in cuLaunchKernel's list

// A buffer that contains all arguments, as cuLaunchKernel takes it.
struct PackedArguments {
  const char *from = nullptr; // null: there are none, or the list has an entry that we do not know
  size_t bytes = 0;
};
// `list`: the address and the size of the buffer, as for cuLaunchKernel.
inline PackedArguments packedIn(void *const *list) noexcept {
  PackedArguments found;
  for (; list != nullptr && *list != nullptr; list += 2)
    switch (reinterpret_cast<uintptr_t>(*list)) {
    case kPackedPlace:
      found.from = static_cast<const char *>(list[1]);
      break;
    case kPackedBytes:
      found.bytes = *static_cast<const size_t *>(list[1]);
      break;
    default:
      return {};
    }
  return found;
}

// The arguments of a launched copy: those of the program, and the address of the counters as the last one. The struct
// is too large for the stack of the thread that launches.
struct CopyArguments {
  static constexpr uint32_t kMost = 256;
  static constexpr uint64_t kMostBytes = 4096;

  uint64_t counts;
  bool is_each;
  size_t bytes;
  void *each[kMost + 1];
  void *packed[5];
  alignas(16) char content[kMostBytes + sizeof(uint64_t)];
  CopyArguments *next;

  // False: the program passes the arguments in a form that we do not know.
  bool take(const abi::DeviceKernel &row, uint64_t counters, void **given, void **given_packed) noexcept {
    counts = counters;
    is_each = given != nullptr || row.arguments == 0;
    if (is_each) {
      if (row.arguments > kMost)
        return false;
      if (row.arguments != 0)
        std::memcpy(each, given, row.arguments * sizeof *given);
      each[row.arguments] = &counts;
      return true;
    }
    const PackedArguments from = packedIn(given_packed);
    if (from.from == nullptr || row.counts_offset > kMostBytes)
      return false;
    std::memcpy(content, from.from, from.bytes < row.counts_offset ? from.bytes : row.counts_offset);
    std::memcpy(content + row.counts_offset, &counts, sizeof counts);
    bytes = row.counts_offset + sizeof counts;
    void *const list[] = {reinterpret_cast<void *>(kPackedPlace), content, reinterpret_cast<void *>(kPackedBytes),
                          &bytes, nullptr};
    std::memcpy(packed, list, sizeof list);
    return true;
  }
};

inline constinit Wiped<CopyArguments *> unused_arguments; // a list

// An object that no launch uses; null: there is no memory. Hold CountedLock while you call these functions.
inline CopyArguments *takeArguments() noexcept {
  CopyArguments **const unused = unused_arguments.make();
  if (unused == nullptr || *unused == nullptr)
    return unused != nullptr ? static_cast<CopyArguments *>(keep(sizeof(CopyArguments))) : nullptr;
  return std::exchange(*unused, (*unused)->next);
}

inline void giveArguments(CopyArguments *arguments) noexcept {
  arguments->next = std::exchange(*unused_arguments.get(), arguments);
}

} // namespace msleaks::hooks
