// What shows that the function around a call keeps its frame record {frame pointer, return address} where the frame
// pointer says:
//
//   push %rbp             the record's return address lies behind a direct call, or one by a slot of the linker's
//   mov  %rsp, %rbp       (PLT, GOT), of the function with this beginning,
//   ...
//   call malloc           and no other function that begins so lies between that beginning and the call.
//   <- frame.address
//
// A function without a record would have left the register to a function further out, whose record is proof of that one
// only. But then the outer function was left somewhere, by a call or a signal, and the address of where it goes on lies
// between the stack pointer and its record. So no word there may be the address of any code, not even a forgotten one.
#include "unwind/frame_record.h"

#include "loaded_object.h"

namespace msleaks::runtime::unwind {
namespace {

struct Segment {
  uint64_t begin = 0, end = 0;
  bool holds(uint64_t address, uint64_t bytes = 1) const noexcept {
    return address >= begin && address < end && end - address >= bytes;
  }
};

// The segment of an image with `address`; empty: there is none with these rights.
Segment segmentOf(uint64_t address, ElfW(Word) rights) noexcept {
  LoadedObject object;
  if (!findLoadedObject(address, object) || object.headers == nullptr)
    return {};
  for (unsigned i = 0; i < object.header_count; ++i) {
    const ElfW(Phdr) &header = object.headers[i];
    const uint64_t begin = object.load_bias + header.p_vaddr;
    if (header.p_type == PT_LOAD && (header.p_flags & rights) == rights && address - begin < header.p_memsz)
      return {begin, begin + header.p_memsz};
  }
  return {};
}

Segment codeAt(uint64_t address) noexcept { return segmentOf(address, PF_R | PF_X); }

} // namespace

#if defined(__x86_64__)
namespace {

template <class T> T bytesAt(uint64_t at) noexcept {
  T value;
  __builtin_memcpy(&value, reinterpret_cast<const void *>(at), sizeof value);
  return value;
}

constexpr uint64_t kLongestStart = 16; // bytes that may be looked at where a function or an entry of a PLT begins

uint64_t behindEndbr(uint64_t at) noexcept { return bytesAt<uint32_t>(at) == 0xfa1e0ff3 ? at + 4 : at; }

bool isRecordMade(uint64_t at) noexcept {
  const auto bytes = bytesAt<uint32_t>(at);
  return bytes == 0xe5894855 || bytes == 0xec8b4855; // push %rbp; mov %rsp, %rbp in both encodings
}

// What the slot at a distance from the end of an instruction holds; 0 = no image has it.
uint64_t slotValue(uint64_t behind, int32_t distance) noexcept {
  const uint64_t slot = behind + static_cast<uint64_t>(int64_t{distance});
  return segmentOf(slot, PF_R).holds(slot, sizeof slot) ? bytesAt<uint64_t>(slot) : 0;
}

// Where the call before a return address goes, through the linker's entries; 0 = not known.
uint64_t calledBefore(uint64_t return_address) noexcept {
  constexpr uint64_t kDirect = 5, kBySlot = 6;
  if (!codeAt(return_address - kBySlot).holds(return_address - kBySlot, kBySlot))
    return 0;
  if (bytesAt<uint16_t>(return_address - kBySlot) == 0x15ff)
    return slotValue(return_address, bytesAt<int32_t>(return_address - 4));
  if (bytesAt<uint8_t>(return_address - kDirect) != 0xe8)
    return 0;
  const uint64_t called = return_address + static_cast<uint64_t>(int64_t{bytesAt<int32_t>(return_address - 4)});
  if (!codeAt(called).holds(called, kLongestStart))
    return 0;
  uint64_t at = behindEndbr(called);
  at += bytesAt<uint8_t>(at) == 0xf2 ? 1 : 0; // bnd
  return bytesAt<uint16_t>(at) == 0x25ff ? slotValue(at + 6, bytesAt<int32_t>(at + 2)) : called;
}

// `address` belongs to a function that begins at `function` and makes its record at once.
bool makesRecord(uint64_t function, uint64_t address) noexcept {
  constexpr uint64_t kLongest = 1 << 15;
  const Segment code = codeAt(address);
  if (!code.holds(function, kLongestStart) || function >= address || address - function > kLongest)
    return false;
  uint64_t at = behindEndbr(function);
  if (!isRecordMade(at))
    return false;
  while (++at + sizeof(uint32_t) < address)
    if (isRecordMade(at))
      return false;
  return true;
}

bool holdsNoCode(uint64_t begin, uint64_t end, Stack &stack) noexcept {
  constexpr uint64_t kMost = 1 << 15;
  if (end - begin > kMost)
    return false;
  for (uint64_t word = 0; begin < end; begin += sizeof word)
    if (!stack.read(begin, word) || (!stack.holds(word) && codeAt(word).end != 0))
      return false;
  return true;
}

// call *…: opcode ff, 2 in the middle of the byte behind it, and as long as that byte says.
bool isIndirectCall(uint64_t begin, uint64_t end) noexcept {
  const auto operand = bytesAt<uint8_t>(begin + 1);
  const unsigned mode = operand >> 6, base = operand & 7;
  if (bytesAt<uint8_t>(begin) != 0xff || (operand & 0x38) != 0x10)
    return false;
  const bool has_index = mode != 3 && base == 4;
  const bool is_long =
      mode == 2 || (mode == 0 && base == 5) || (mode == 0 && has_index && (bytesAt<uint8_t>(begin + 2) & 7) == 5);
  return end - begin == 2u + has_index + (mode == 1 ? 1 : is_long ? 4 : 0);
}

} // namespace

bool mayFollowCall(uint64_t address) noexcept {
  constexpr uint64_t kLongestCall = 7;
  if (!codeAt(address - kLongestCall).holds(address - kLongestCall, kLongestCall))
    return false;
  bool found = bytesAt<uint8_t>(address - 5) == 0xe8;
  for (uint64_t bytes = 2; bytes <= kLongestCall; ++bytes)
    found |= isIndirectCall(address - bytes, address);
  return found;
}

Rule ruleOfFrameRecord(const Frame &frame, Stack &stack) noexcept {
  const uint64_t record = frame.frame_pointer;
  uint64_t return_address = 0;
  if (frame.is_interrupted || record < frame.stack_pointer || record % 16 != 0 ||
      !stack.read(record + sizeof record, return_address))
    return {};
  const uint64_t function = calledBefore(return_address);
  if (function == 0 || !makesRecord(function, frame.address) || !holdsNoCode(frame.stack_pointer, record, stack))
    return {};
  return {.kind = RuleKind::Plain, .base = Base::FramePointer, .offset = 16, .frame_slot = -16, .return_slot = -8};
}

#else
// Elsewhere a record does not tell where the caller's stack pointer was: it may lie at either end of a frame.
Rule ruleOfFrameRecord(const Frame &, Stack &) noexcept { return {}; }

#if defined(__aarch64__)
// bl, blr and those that check a signed address.
bool mayFollowCall(uint64_t address) noexcept {
  if (!codeAt(address - 4).holds(address - 4, 4))
    return false;
  const uint32_t word = *reinterpret_cast<const uint32_t *>(address - 4);
  return (word & 0xfc00'0000) == 0x9400'0000 || (word & 0xfeff'f000) == 0xd63f'0000;
}
#else
bool mayFollowCall(uint64_t) noexcept { return true; }
#endif
#endif

} // namespace msleaks::runtime::unwind
