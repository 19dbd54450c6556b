// Finds the rule of a frame without an unwind table. This file first proves that the frame pointer refers to the frame
// record {frame pointer, return address} of the frame's own function. The proof has three parts:
//
//   1. The record's return address follows a direct call, or a call through a slot of the linker (PLT, GOT).
//   2. The called function begins with push %rbp; mov %rsp, %rbp. No second such beginning lies between this one and
//      frame.address.
//   3. No word between the stack pointer and the record may be a return address, not even an old one. Only words whose
//      address is a multiple of 16 plus 8 are checked, since the calling convention puts return addresses there.
//
// Part 3 is necessary since a function without a record leaves the frame pointer unchanged. The frame pointer then
// refers to the record of an outer function. But the outer function has called the inner function, or a signal handler
// runs. So there is a return address between the stack pointer and the record.
#include "unwind/frame_record.h"

#include "unwind/code.h"

#include <cstring>

namespace msleaks::runtime::unwind {

#if defined(__x86_64__)
namespace {

template <class T> T in(const unsigned char *bytes) noexcept {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <class T> T bytesAt(uint64_t at) noexcept { return in<T>(reinterpret_cast<const unsigned char *>(at)); }

constexpr uint64_t kLongestStart = 16; // number of bytes that are read at the beginning of a function or of a PLT entry
constexpr uint32_t kEndbr64 = 0xfa1e'0ff3;

bool isRecordMade(uint64_t at) noexcept {
  const auto bytes = bytesAt<uint32_t>(at);
  return bytes == 0xe589'4855 || bytes == 0xec8b'4855; // push %rbp; mov %rsp, %rbp in both encodings
}

uint64_t plus(uint64_t address, int32_t distance) noexcept {
  return address + static_cast<uint64_t>(int64_t{distance});
}

// Returns the word of an image at this distance from the address `behind`, or 0 if no image contains it.
uint64_t slotValue(uint64_t behind, int32_t distance) noexcept {
  const uint64_t slot = plus(behind, distance);
  uint64_t value = 0;
  return codeAt(slot).isOf(slot) && copyIfThere(slot, value) ? value : 0;
}

// Returns the address of the function that a call of `called` reaches. If `called` is an entry of the PLT, this address
// is in the entry's slot.
uint64_t behindPlt(uint64_t called) noexcept {
  unsigned char bytes[kLongestStart];
  if (!codeBytes(called, bytes))
    return 0;
  unsigned at = in<uint32_t>(bytes) == kEndbr64 ? 4 : 0;
  at += bytes[at] == 0xf2 ? 1 : 0; // the prefix bnd
  return in<uint16_t>(bytes + at) == 0x25ff ? slotValue(called + at + 6, in<int32_t>(bytes + at + 2)) : called;
}

// Returns the target of the call before a return address, or 0 if it is not known.
uint64_t calledBefore(uint64_t return_address) noexcept {
  unsigned char bytes[6];
  if (!codeBytes(return_address - sizeof bytes, bytes))
    return 0;
  if (in<uint16_t>(bytes) == 0x15ff)
    return slotValue(return_address, in<int32_t>(bytes + 2));
  return bytes[1] == 0xe8 ? behindPlt(plus(return_address, in<int32_t>(bytes + 2))) : 0;
}

// Whether `address` belongs to a function that begins at `function` and whose first instructions make the record.
bool makesRecord(uint64_t function, uint64_t address) noexcept {
  constexpr uint64_t kLongest = 1 << 15;
  const Code code = codeAt(address);
  if (!code.holds(function, kLongestStart) || function >= address || address - function > kLongest)
    return false;
  uint64_t at = function + (bytesAt<uint32_t>(function) == kEndbr64 ? 4 : 0);
  if (!isRecordMade(at))
    return false;
  while (++at + sizeof(uint32_t) < address)
    if (isRecordMade(at))
      return false;
  return true;
}

bool mayBeReturnAddress(uint64_t address) noexcept { return mayFollowCall(address) || isReturnOfHandler(address); }

bool holdsNoReturnAddress(uint64_t begin, uint64_t end, Stack &stack) noexcept {
  constexpr uint64_t kMost = 1 << 15;
  if (end - begin > kMost)
    return false;
  Code code; // the code of the image that the last word refers to
  for (uint64_t at = begin + (24 - begin % 16) % 16, word = 0; at < end; at += 16) {
    if (!stack.read(at, word))
      return false;
    LoadedRange range;
    if (stack.holds(word) || (!code.isOf(word) && !findLoadedRange(word, range)))
      continue;
    if (!code.isOf(word))
      code = codeAt(word);
    if (!code.isOf(word) || (code.holds(word) && mayBeReturnAddress(word)))
      return false;
  }
  return true;
}

} // namespace

Rule ruleOfFrameRecord(const Frame &frame, Stack &stack) noexcept {
  const uint64_t record = frame.frame_pointer;
  uint64_t return_address = 0;
  if (frame.is_interrupted || record < frame.stack_pointer || record % 16 != 0 ||
      !stack.read(record + sizeof record, return_address))
    return {};
  const uint64_t function = calledBefore(return_address);
  if (function == 0 || !makesRecord(function, frame.address) ||
      !holdsNoReturnAddress(frame.stack_pointer, record, stack))
    return {};
  return {.kind = RuleKind::Plain, .base = Base::FramePointer, .offset = 16, .frame_slot = -16, .return_slot = -8};
}

#else
// On other processors a record may be at either end of a frame, so it does not determine the caller's stack pointer.
Rule ruleOfFrameRecord(const Frame &, Stack &) noexcept { return {}; }

#endif

} // namespace msleaks::runtime::unwind
