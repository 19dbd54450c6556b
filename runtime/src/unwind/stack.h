// Reads words of the current stack. A damaged stack may contain any pointers. So a page is read only after the kernel
// has confirmed that it is mapped.
#pragma once

#include <cstdint>

namespace msleaks::runtime::unwind {

// Reads a word of the stack. Sanitizers must not check this read, since a damaged stack may contain any pointers.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] inline uint64_t wordAt(uint64_t at) noexcept {
  return *reinterpret_cast<const uint64_t *>(at);
}

// Whether the page with this address is mapped. Returns false for addresses of more than 56 bits, where no processor
// has code or stacks, and if the runtime may make no system call.
bool isReadable(uint64_t address) noexcept;

class Stack {
public:
  // Reads the word at `at`. Returns false if the word is not mapped, or if it is not on the current stack.
  [[gnu::always_inline]] bool read(uint64_t at, uint64_t &word) noexcept {
    if (at % sizeof word != 0 || at < begin_ || at >= end_) [[unlikely]]
      if (!extend(at))
        return false;
    word = wordAt(at);
    return true;
  }

  // Begins a new walk at this stack pointer. Returns true if the stack may have changed, since a thread or a signal
  // handler may run on another stack than before.
  [[gnu::always_inline]] bool enter(uint64_t stack_pointer) noexcept {
    if (stack_pointer >= begin_ && stack_pointer < end_) [[likely]]
      return false;
    move(stack_pointer);
    return true;
  }

  bool holds(uint64_t at) const noexcept { return at >= begin_ && at < end_; }

  // Forgets the known pages, since they may have been unmapped.
  void forget() noexcept { begin_ = end_ = 0; }

private:
  bool extend(uint64_t at) noexcept;
  void move(uint64_t stack_pointer) noexcept;

  uint64_t begin_ = 0, end_ = 0; // whole pages that are known to be mapped
};

} // namespace msleaks::runtime::unwind
