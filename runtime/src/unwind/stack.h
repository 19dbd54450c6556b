// The part of the current stack that a walk may read. Overwritten words may point anywhere, so no page is read before
// the kernel has confirmed it.
#pragma once

#include <cstdint>

namespace msleaks::runtime::unwind {

// Sanitizers do not check these reads: a damaged stack may point anywhere.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] inline uint64_t wordAt(uint64_t at) noexcept {
  return *reinterpret_cast<const uint64_t *>(at);
}

// Whether the page with this address is mapped. No processor has code or stacks above 56 bits.
bool isReadable(uint64_t address) noexcept;

class Stack {
public:
  // Reads the word at `at`; false: it is not mapped, or not in a stack that begins at `low`.
  [[gnu::always_inline]] bool read(uint64_t at, uint64_t &word) noexcept {
    if (at % sizeof word != 0 || at < begin_ || at >= end_) [[unlikely]]
      if (!extend(at))
        return false;
    word = wordAt(at);
    return true;
  }

  // Takes the stack pointer of a new walk: a thread or a handler may run on another stack than before. True: the stack
  // may have changed.
  [[gnu::always_inline]] bool enter(uint64_t stack_pointer) noexcept {
    if (stack_pointer >= begin_ && stack_pointer < end_) [[likely]]
      return false;
    move(stack_pointer);
    return true;
  }

  bool holds(uint64_t at) const noexcept { return at >= begin_ && at < end_; }

  // Forgets the known pages, which may have been unmapped.
  void forget() noexcept { begin_ = end_ = 0; }

private:
  bool extend(uint64_t at) noexcept;
  void move(uint64_t stack_pointer) noexcept;

  uint64_t begin_ = 0, end_ = 0; // whole pages
};

} // namespace msleaks::runtime::unwind
