// The part of the current stack that a walk may read. What the program overwrote may lead anywhere: nothing is read
// before the kernel has said that it can be.
#pragma once

#include <cstdint>

namespace msleaks::runtime::unwind {

// Whatever a sanitizer thinks of it: a damaged stack leads anywhere.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] inline uint64_t wordAt(uint64_t at) noexcept {
  return *reinterpret_cast<const uint64_t *>(at);
}

// Whether the page with this address is there; no processor has code or stacks above 56 bits.
bool isReadable(uint64_t address) noexcept;

class Stack {
public:
  // The word at `at`; false: not there, or not one of a stack that begins at `low`.
  [[gnu::always_inline]] bool read(uint64_t at, uint64_t &word) noexcept {
    if (at % sizeof word != 0 || at < begin_ || at >= end_) [[unlikely]]
      if (!extend(at))
        return false;
    word = wordAt(at);
    return true;
  }

  // The stack pointer of a walk that begins: a thread, and a handler, may run on another stack than before. True: what
  // was read before may not be there any more.
  [[gnu::always_inline]] bool enter(uint64_t stack_pointer) noexcept {
    if (stack_pointer >= begin_ && stack_pointer < end_) [[likely]]
      return false;
    move(stack_pointer);
    return true;
  }

  bool holds(uint64_t at) const noexcept { return at >= begin_ && at < end_; }

  // Pages may have been unmapped.
  void forget() noexcept { begin_ = end_ = 0; }

private:
  bool extend(uint64_t at) noexcept;
  void move(uint64_t stack_pointer) noexcept;

  uint64_t begin_ = 0, end_ = 0; // whole pages
};

} // namespace msleaks::runtime::unwind
