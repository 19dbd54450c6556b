#include "coarse_calls.h"

#include "unwind/code.h"

#include <cstring>

namespace msleaks::runtime {

#if defined(__x86_64__)
namespace {

// Returns the function that a call of `called` reaches. If `called` is an entry of the linker's table of functions
// (PLT), its first instruction jumps to the address in a slot. The bytes before a return address may be no direct call,
// so `called` may be any address.
uint64_t behindPlt(uint64_t called) noexcept {
  unsigned char code[11];
  if (!unwind::copyIfThere(called, code))
    return called;
  const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  unsigned at = std::memcmp(code, endbr64, sizeof endbr64) == 0 ? sizeof endbr64 : 0;
  at += code[at] == 0xf2 ? 1 : 0; // the prefix bnd
  if (at > sizeof code - 6 || code[at] != 0xff || code[at + 1] != 0x25)
    return called;
  int32_t distance;
  std::memcpy(&distance, code + at + 2, sizeof distance);
  uint64_t function = 0;
  return unwind::copyIfThere(called + at + 6 + static_cast<uint64_t>(int64_t{distance}), function) ? function : called;
}

} // namespace

bool isCallOf(uint64_t function, uint64_t return_address) noexcept {
  const auto *code = reinterpret_cast<const unsigned char *>(return_address);
  int32_t distance;
  std::memcpy(&distance, code - sizeof distance, sizeof distance);
  const uint64_t called = return_address + static_cast<uint64_t>(int64_t{distance});
  return code[-5] == 0xe8 && (called == function || behindPlt(called) == function);
}
#elif defined(__aarch64__)
bool isCallOf(uint64_t function, uint64_t return_address) noexcept {
  uint32_t instruction;
  std::memcpy(&instruction, reinterpret_cast<const void *>(return_address - sizeof instruction), sizeof instruction);
  const auto distance = static_cast<int64_t>(static_cast<int32_t>(instruction << 6) >> 6) * 4;
  return instruction >> 26 == 0x25 && return_address - sizeof instruction + static_cast<uint64_t>(distance) == function;
}
#endif

} // namespace msleaks::runtime
