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
// only. But then it was called meanwhile, or is a handler, and its own return address lies between the stack pointer
// and that record, where the calling convention has it: 8 bytes from a multiple of 16. So no word there may be a return
// address, not even a forgotten one.
//
// Nothing tells that the image of a word on the stack stays while it is looked at, but for that of frame.address:
// another thread may close it. So the kernel is asked for the bytes of all others.
#include "unwind/frame_record.h"

#include "loaded_object.h"
#include "system.h"

#include "msleaks/runtime/page.h"

#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <sys/uio.h>

namespace msleaks::runtime::unwind {
namespace {

// A sandbox may refuse the call as such; then the page is asked for, and read.
bool copyIfThere(uint64_t from, void *to, uint64_t bytes) noexcept {
  const ErrnoKept kept;
  const iovec here{to, bytes}, there{reinterpret_cast<void *>(from), bytes};
  constexpr uint64_t kOne = 1, kFlags = 0; // the kernel takes whole words, and an int leaves half of one as it was
  const long copied = ::syscall(SYS_process_vm_readv, processId(), &here, kOne, &there, kOne, kFlags);
  if (copied >= 0 || errno == EFAULT)
    return copied == static_cast<long>(bytes);
  if (!isReadable(from) || !isReadable(from + bytes - 1))
    return false;
  std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
  return true;
}

template <class T> bool copyIfThere(uint64_t from, T &to) noexcept { return copyIfThere(from, &to, sizeof to); }

// An image, and the code in it.
struct Code {
  uint64_t image_begin = 0, image_end = 0;
  uint64_t begin = 0, end = 0;
  bool isOf(uint64_t address) const noexcept { return address >= image_begin && address < image_end; }
  bool holds(uint64_t address, uint64_t bytes = 1) const noexcept {
    return address >= begin && address < end && end - address >= bytes;
  }
};

void takeCode(const ElfW(Phdr) & header, uint64_t bias, Code &code) noexcept {
  if (header.p_type != PT_LOAD || (header.p_flags & (PF_R | PF_X)) != (PF_R | PF_X))
    return;
  const uint64_t begin = bias + header.p_vaddr;
  code.begin = code.end == 0 ? begin : code.begin;
  code.end = begin + header.p_memsz;
}

// Of the image with `address`; empty: there is none, or not one that begins with its headers.
Code codeAt(uint64_t address) noexcept {
  Code code;
  LoadedRange range;
  ElfW(Ehdr) elf;
  if (!findLoadedRange(address, range) || !copyIfThere(range.begin, elf) ||
      std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_phentsize != sizeof(ElfW(Phdr)))
    return code;
  code.image_begin = range.begin;
  code.image_end = range.end;
  uint64_t bias = 0;
  for (unsigned i = 0, loaded = 0; i < elf.e_phnum; ++i) {
    ElfW(Phdr) header;
    if (!copyIfThere(range.begin + elf.e_phoff + i * sizeof header, header))
      return {};
    if (header.p_type == PT_LOAD && loaded++ == 0)
      bias = range.begin - (header.p_vaddr & ~(pageBytes() - 1));
    takeCode(header, bias, code);
  }
  return code;
}

// The code of an object with the byte at `at`; empty: that is none.
Code codeIn(const LoadedObject &object, uint64_t at) noexcept {
  for (unsigned i = 0; i < object.header_count; ++i) {
    Code code;
    takeCode(object.headers[i], object.load_bias, code);
    if (code.holds(at))
      return code;
  }
  return {};
}

// A static program does not map its headers where its range begins: then nothing says what is code.
bool mayBeCode(uint64_t at, uint64_t bytes) noexcept {
  const Code code = codeAt(at);
  return code.end == 0 || code.holds(at, bytes);
}

} // namespace

#if defined(__x86_64__)
namespace {

// The bytes of code at `at`; false: it is no code.
template <class T> bool codeBytes(uint64_t at, T &bytes) noexcept {
  return codeAt(at).holds(at, sizeof bytes) && copyIfThere(at, bytes);
}

template <class T> T in(const unsigned char *bytes) noexcept {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <class T> T bytesAt(uint64_t at) noexcept { return in<T>(reinterpret_cast<const unsigned char *>(at)); }

constexpr uint64_t kLongestStart = 16; // bytes that may be looked at where a function or an entry of a PLT begins
constexpr uint32_t kEndbr64 = 0xfa1e'0ff3;

bool isRecordMade(uint64_t at) noexcept {
  const auto bytes = bytesAt<uint32_t>(at);
  return bytes == 0xe589'4855 || bytes == 0xec8b'4855; // push %rbp; mov %rsp, %rbp in both encodings
}

uint64_t plus(uint64_t address, int32_t distance) noexcept {
  return address + static_cast<uint64_t>(int64_t{distance});
}

// What an image holds at a distance from the end of an instruction; 0 = nothing.
uint64_t slotValue(uint64_t behind, int32_t distance) noexcept {
  const uint64_t slot = plus(behind, distance);
  uint64_t value = 0;
  return codeAt(slot).isOf(slot) && copyIfThere(slot, value) ? value : 0;
}

// Where a call to `called` ends up: an entry of the PLT jumps by a slot.
uint64_t behindPlt(uint64_t called) noexcept {
  unsigned char bytes[kLongestStart];
  if (!codeBytes(called, bytes))
    return 0;
  unsigned at = in<uint32_t>(bytes) == kEndbr64 ? 4 : 0;
  at += bytes[at] == 0xf2 ? 1 : 0; // bnd
  return in<uint16_t>(bytes + at) == 0x25ff ? slotValue(called + at + 6, in<int32_t>(bytes + at + 2)) : called;
}

// Where the call before a return address goes; 0 = not known.
uint64_t calledBefore(uint64_t return_address) noexcept {
  unsigned char bytes[6];
  if (!codeBytes(return_address - sizeof bytes, bytes))
    return 0;
  if (in<uint16_t>(bytes) == 0x15ff)
    return slotValue(return_address, in<int32_t>(bytes + 2));
  return bytes[1] == 0xe8 ? behindPlt(plus(return_address, in<int32_t>(bytes + 2))) : 0;
}

// `address` belongs to a function that begins at `function` and makes its record at once.
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

// call *…: opcode ff, 2 in the middle of the byte behind it, and as long as that byte says.
bool isIndirectCall(const unsigned char *begin, unsigned bytes) noexcept {
  const unsigned mode = begin[1] >> 6, base = begin[1] & 7;
  if (begin[0] != 0xff || (begin[1] & 0x38) != 0x10)
    return false;
  const bool has_index = mode != 3 && base == 4;
  const bool is_long = mode == 2 || (mode == 0 && (base == 5 || (has_index && (begin[2] & 7) == 5)));
  return bytes == 2u + has_index + (mode == 1 ? 1 : is_long ? 4 : 0);
}

constexpr unsigned kCallBytes = 7; // of the longest

// `bytes` has one more, which the shortest call looks at.
bool mayEndInCall(const unsigned char *bytes) noexcept {
  bool found = bytes[kCallBytes - 5] == 0xe8;
  for (unsigned length = 2; length <= kCallBytes; ++length)
    found |= isIndirectCall(bytes + kCallBytes - length, length);
  return found;
}

// Behind a call, or the kernel's: mov $15, %rax; syscall.
bool mayBeReturnAddress(uint64_t address) noexcept {
  constexpr unsigned char kReturnOfHandler[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
  unsigned char bytes[sizeof kReturnOfHandler];
  return mayFollowCall(address) ||
         (codeBytes(address, bytes) && std::memcmp(bytes, kReturnOfHandler, sizeof bytes) == 0);
}

bool holdsNoReturnAddress(uint64_t begin, uint64_t end, Stack &stack) noexcept {
  constexpr uint64_t kMost = 1 << 15;
  if (end - begin > kMost)
    return false;
  Code code; // of the image of the last word that lay in one
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
// Elsewhere a record does not tell where the caller's stack pointer was: it may lie at either end of a frame.
Rule ruleOfFrameRecord(const Frame &, Stack &) noexcept { return {}; }

namespace {

#if defined(__aarch64__)
constexpr unsigned kCallBytes = 4;

// bl, blr and those that check a signed address.
bool mayEndInCall(const unsigned char *bytes) noexcept {
  uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  return (word & 0xfc00'0000) == 0x9400'0000 || (word & 0xfeff'f000) == 0xd63f'0000;
}
#else
constexpr unsigned kCallBytes = 1;
bool mayEndInCall(const unsigned char *) noexcept { return true; }
#endif

} // namespace
#endif

bool mayFollowCall(uint64_t address) noexcept {
  unsigned char bytes[kCallBytes + 1] = {};
  return mayBeCode(address - kCallBytes, kCallBytes) && copyIfThere(address - kCallBytes, bytes, kCallBytes) &&
         mayEndInCall(bytes);
}

bool mayFollowCall(const LoadedObject &object, uint64_t address) noexcept {
  if (object.header_count == 0)
    return mayFollowCall(address);
  const uint64_t begin = address - kCallBytes;
  unsigned char bytes[kCallBytes + 1] = {};
  if (!codeIn(object, begin).holds(begin, kCallBytes))
    return false;
  std::memcpy(bytes, reinterpret_cast<const void *>(begin), kCallBytes);
  return mayEndInCall(bytes);
}

} // namespace msleaks::runtime::unwind
