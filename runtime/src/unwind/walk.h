// Walks the stack: each step changes a frame to its caller's frame, up to the first frame of the thread.
#pragma once

#include "unwind/machine.h"
#include "unwind/rule_cache.h"
#include "unwind/stack.h"

namespace msleaks::runtime::unwind {

struct Frame {
  uint64_t address;       // address of the next instruction
  uint64_t stack_pointer; // the stack pointer after the callee has returned (the callee's CFA)
  uint64_t frame_pointer;
  uint64_t address_at = 0;         // where `address` was read; 0 = no single word of the stack determines it
  uint64_t frame_at = 0;           // where `frame_pointer` was read; 0 = it equals the callee's frame pointer
  bool used_frame_pointer = false; // the walk has found this frame by the callee's frame pointer
  uint64_t link = 0;               // AArch64: value of the link register, if it is known
  bool is_interrupted = false;     // a signal has interrupted the frame, so `address` is not a return address
};

enum class Step : uint8_t {
  Caller,    // the frame is now the caller's frame
  Outermost, // there is no caller
  Unknown,   // the caller cannot be found: there is no usable table, or the stack is damaged
  NoCall,    // the frame's address is no return address: the last step was wrong
};

extern RuleCache rules;

// Reads the rule of a frame from the tables, and stores the rule in the cache.
Rule lookUp(const Frame &frame) noexcept;

// Returns the first address of the function that contains `address`. Returns 0 if it is not known, or if this glibc
// needs a lock to find it.
uint64_t beginOfFunction(uint64_t address) noexcept;

Step stepSlowly(Frame &frame, const Rule &rule, Stack &stack) noexcept;

// Returns the return address without the bits of its signature.
inline uint64_t stripped(uint64_t address) noexcept {
#if defined(__aarch64__)
  register uint64_t link __asm__("x30") = address;
  __asm__("hint #7" : "+r"(link)); // xpaclri; it has no effect on processors without signed addresses
  return link;
#else
  return address;
#endif
}

// Returns the address of the interrupted instruction, or of the last byte of the call.
[[gnu::always_inline]] inline uint64_t codeOf(const Frame &frame) noexcept {
  return frame.is_interrupted ? frame.address : frame.address - 1;
}

[[gnu::always_inline]] inline Step step(Frame &frame, Stack &stack) noexcept {
  Rule rule;
  if (!rules.find(codeOf(frame), rule)) [[unlikely]]
    rule = lookUp(frame);
  if (rule.kind != RuleKind::Plain || rule.return_slot == Rule::kNotSaved) [[unlikely]]
    return stepSlowly(frame, rule, stack);
  const uint64_t base = rule.base == Base::StackPointer ? frame.stack_pointer : frame.frame_pointer;
  const uint64_t cfa = base + static_cast<uint64_t>(int64_t{rule.offset});
  uint64_t return_address = 0;
  const uint64_t address_at = cfa + static_cast<uint64_t>(int64_t{rule.return_slot});
  const uint64_t frame_at =
      rule.frame_slot != Rule::kNotSaved ? cfa + static_cast<uint64_t>(int64_t{rule.frame_slot}) : 0;
  // A step that does not lead up the stack fails, so a walk on one stack always ends.
  if (cfa <= frame.stack_pointer || !stack.read(address_at, return_address)) [[unlikely]]
    return Step::Unknown;
  if (frame_at != 0 && !stack.read(frame_at, frame.frame_pointer)) [[unlikely]]
    return Step::Unknown;
  frame.address_at = address_at;
  frame.frame_at = frame_at;
  frame.used_frame_pointer = rule.base == Base::FramePointer;
  frame.address = stripped(return_address);
  frame.stack_pointer = cfa;
  frame.is_interrupted = false;
  return Step::Caller;
}

} // namespace msleaks::runtime::unwind
