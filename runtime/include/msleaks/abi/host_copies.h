// The functions by which a program copies its own memory, and which of their calls are recorded. A recorded call is an
// event Copy whose heap is Host.
#pragma once

#include "msleaks/abi/symbols.h"

#include <cstdint>
#include <string_view>

namespace msleaks::abi {

// A copy of fewer bytes is not recorded: it takes about as long as its event.
inline constexpr uint64_t kLeastHostCopyBytes = 64 << 10;

// The destination, the source and the size are the first three parameters of each function.
constexpr Symbol hostCopyOf(std::string_view name) {
  return {.name = name,
          .verb = Verb::Copy,
          .family = Family::Heap,
          .heap = Heap::Host,
          .size = Position(2),
          .address = Position(0),
          .source = Position(1)};
}
inline constexpr Symbol kHostCopies[] = {hostCopyOf("memcpy"), hostCopyOf("memmove"), hostCopyOf("__memcpy_chk"),
                                         hostCopyOf("__memmove_chk")};

} // namespace msleaks::abi
