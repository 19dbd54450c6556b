#include "unwind/code.h"

#include "system.h"
#include "unwind/stack.h"

#include "msleaks/runtime/page.h"

#include <cstring>
#include <elf.h>
#include <sys/uio.h>

namespace msleaks::runtime::unwind {
namespace {

void takeCode(const ElfW(Phdr) & header, uint64_t bias, Code &code) noexcept {
  if (header.p_type != PT_LOAD || (header.p_flags & (PF_R | PF_X)) != (PF_R | PF_X))
    return;
  const uint64_t begin = bias + header.p_vaddr;
  code.begin = code.end == 0 ? begin : code.begin;
  code.end = begin + header.p_memsz;
}

// Returns the segment of the object's code that contains `at`, or an empty result.
Code codeIn(const LoadedObject &object, uint64_t at) noexcept {
  for (unsigned i = 0; i < object.header_count; ++i) {
    Code code;
    takeCode(object.headers[i], object.load_bias, code);
    if (code.holds(at))
      return code;
  }
  return {};
}

// Whether these bytes may be code. If the code of the image cannot be found, the result is true. An example is a static
// program that does not map its headers at the beginning of its range.
bool mayBeCode(uint64_t at, uint64_t bytes) noexcept {
  const Code code = codeAt(at);
  return code.end == 0 || code.holds(at, bytes);
}

bool copyIfMaybeCode(uint64_t at, void *to, uint64_t bytes) noexcept {
  return mayBeCode(at, bytes) && copyIfThere(at, to, bytes);
}

#if defined(__x86_64__)
// Whether these bytes are one `call *…` instruction: opcode ff, with 2 in the middle three bits of the second byte. The
// length follows from the second byte and, if there is a SIB byte, from the third.
bool isIndirectCall(const unsigned char *begin, unsigned bytes) noexcept {
  const unsigned mode = begin[1] >> 6, base = begin[1] & 7;
  if (begin[0] != 0xff || (begin[1] & 0x38) != 0x10)
    return false;
  const bool has_index = mode != 3 && base == 4;
  const bool is_long = mode == 2 || (mode == 0 && (base == 5 || (has_index && (begin[2] & 7) == 5)));
  return bytes == 2u + has_index + (mode == 1 ? 1 : is_long ? 4 : 0);
}

constexpr unsigned kCallBytes = 7;                                                          // size of the longest call
constexpr unsigned char kReturnOfHandler[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}; // mov $15, %rax; syscall

// Whether the first kCallBytes bytes may end in a call. `bytes` must have one byte more: the check of the shortest call
// reads it, but it does not change the result.
bool mayEndInCall(const unsigned char *bytes) noexcept {
  bool found = bytes[kCallBytes - 5] == 0xe8;
  for (unsigned length = 2; length <= kCallBytes; ++length)
    found |= isIndirectCall(bytes + kCallBytes - length, length);
  return found;
}

#elif defined(__aarch64__)
constexpr unsigned kCallBytes = 4;
constexpr unsigned char kReturnOfHandler[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4}; // mov x8, #139; svc #0

// Whether the bytes end in a call: bl, blr, or blraa (with a signed address).
bool mayEndInCall(const unsigned char *bytes) noexcept {
  uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  return (word & 0xfc00'0000) == 0x9400'0000 || (word & 0xfeff'f000) == 0xd63f'0000;
}
#else
constexpr unsigned kCallBytes = 1;
constexpr unsigned char kReturnOfHandler[16] = {}; // not known on this processor
bool mayEndInCall(const unsigned char *) noexcept { return true; }
#endif

} // namespace

// If a sandbox refuses process_vm_readv, this function checks that the pages are mapped, and copies the bytes itself.
bool copyIfThere(uint64_t from, void *to, uint64_t bytes) noexcept {
  const ErrnoKept kept;
  const iovec here{to, bytes}, there{reinterpret_cast<void *>(from), bytes};
  constexpr uint64_t kOne = 1, kFlags = 0; // 64-bit types, since the kernel reads whole registers
  const long copied = callKernel(SYS_process_vm_readv, processId(), &here, kOne, &there, kOne, kFlags);
  if (copied >= 0 || errno == EFAULT)
    return copied == static_cast<long>(bytes);
  if (!isReadable(from) || !isReadable(from + bytes - 1))
    return false;
  std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
  return true;
}

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

bool isReturnOfHandler(uint64_t address) noexcept {
  unsigned char bytes[sizeof kReturnOfHandler];
  return copyIfMaybeCode(address, bytes, sizeof bytes) && std::memcmp(bytes, kReturnOfHandler, sizeof bytes) == 0;
}

bool isCodeOf(const LoadedObject &object, uint64_t at, uint64_t bytes) noexcept {
  return codeIn(object, at).holds(at, bytes);
}

bool mayFollowCall(uint64_t address) noexcept {
  unsigned char bytes[kCallBytes + 1] = {};
  return copyIfMaybeCode(address - kCallBytes, bytes, kCallBytes) && mayEndInCall(bytes);
}

bool mayFollowCall(const LoadedObject &object, uint64_t address) noexcept {
  if (object.header_count == 0)
    return mayFollowCall(address);
  const uint64_t begin = address - kCallBytes;
  unsigned char bytes[kCallBytes + 1] = {};
  if (!isCodeOf(object, begin, kCallBytes))
    return false;
  std::memcpy(bytes, reinterpret_cast<const void *>(begin), kCallBytes);
  return mayEndInCall(bytes);
}

#if defined(__aarch64__)
bool isInPlt(uint64_t address) noexcept {
  struct Instruction {
    uint32_t mask, bits;
  };
  constexpr Instruction kEntry[] = {{0x9f00'001f, 0x9000'0010},  // adrp x16, page
                                    {0xffc0'03ff, 0xf940'0211},  // ldr x17, [x16, #slot]
                                    {0xffc0'03ff, 0x9100'0210},  // add x16, x16, #slot
                                    {0xffff'ffff, 0xd61f'0220}}; // br x17
  constexpr uint64_t kCount = sizeof kEntry / sizeof *kEntry;
  for (uint64_t before = 0; before < kCount; ++before) {
    uint32_t words[kCount];
    if (!copyIfMaybeCode(address - before * sizeof *words, words, sizeof words))
      continue;
    bool same = true;
    for (uint64_t i = 0; i < kCount; ++i)
      same &= (words[i] & kEntry[i].mask) == kEntry[i].bits;
    if (same)
      return true;
  }
  return false;
}
#else
bool isInPlt(uint64_t) noexcept { return false; } // on this processor the unwind tables cover the PLT
#endif

} // namespace msleaks::runtime::unwind
