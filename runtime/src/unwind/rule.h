// A rule describes how to find the caller's frame from a frame, at one address of code.
#pragma once

#include <cstdint>

namespace msleaks::runtime::unwind {

// The kinds of rules. CFA is the caller's stack pointer after the call has returned.
enum class RuleKind : uint8_t {
  Unknown,   // no image, or a table of an unknown form: the walk ends before the outermost call
  Outermost, // there is no caller
  Plain,     // CFA = base + offset; the caller's frame pointer is at CFA + frame_slot
  Realigned, // CFA = the word at base + offset; the caller's frame pointer is at base + frame_slot
  Plt,       // in an entry of the PLT (16 bytes): CFA = stack pointer + 8 before byte `offset`, + 16 from there on
  Signal,    // the kernel has put the interrupted registers on the stack
  NoTable,   // the image has no table for this address: a frame record may help (frame_record.h)
  NoCall,    // the address is not a return address: a table was wrong, or the stack is damaged
};

enum class Base : uint8_t { StackPointer, FramePointer };

// A rule; offsets are in bytes. The kinds Plain and Realigned use all fields. Of the other kinds, only Plt uses
// `offset`.
struct Rule {
  RuleKind kind = RuleKind::Unknown;
  Base base = Base::StackPointer;
  int32_t offset = 0;
  int16_t frame_slot = kNotSaved;  // offset of the caller's frame pointer
  int16_t return_slot = kNotSaved; // offset of the return address from the CFA; kNotSaved: in the link register

  static constexpr int16_t kNotSaved = INT16_MIN;
  friend bool operator==(const Rule &, const Rule &) = default;
};

// Packs a rule into one word. So a table of rules can be read without a lock.
constexpr uint64_t packed(const Rule &rule) {
  return static_cast<uint64_t>(rule.kind) | static_cast<uint64_t>(rule.base) << 3 |
         static_cast<uint64_t>(static_cast<uint32_t>(rule.offset) & 0x0fff'ffff) << 4 |
         static_cast<uint64_t>(static_cast<uint16_t>(rule.frame_slot)) << 32 |
         static_cast<uint64_t>(static_cast<uint16_t>(rule.return_slot)) << 48;
}
inline constexpr int32_t kMaxOffset = (1 << 27) - 1; // `offset` has 28 bits with the sign

constexpr Rule unpacked(uint64_t word) {
  Rule rule;
  rule.kind = static_cast<RuleKind>(word & 7);
  rule.base = static_cast<Base>(word >> 3 & 1);
  rule.offset = static_cast<int32_t>(static_cast<uint32_t>(word)) >> 4;
  rule.frame_slot = static_cast<int16_t>(word >> 32);
  rule.return_slot = static_cast<int16_t>(word >> 48);
  return rule;
}

} // namespace msleaks::runtime::unwind
