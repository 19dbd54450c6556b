#include "analysis/doctor/direct_calls.h"

#include <cstring>

namespace msleaks::analysis {
namespace {

// call and jmp with an offset of 32 bits, from the end of the instruction.
void findX86(std::span<const std::byte> code, uint64_t address, const std::set<uint64_t> &targets,
             std::set<uint64_t> &found) {
  constexpr std::byte kCall{0xe8}, kJump{0xe9};
  constexpr size_t kBytes = 5;
  for (size_t at = 0; at + kBytes <= code.size(); ++at) {
    if (code[at] != kCall && code[at] != kJump)
      continue;
    int32_t offset = 0;
    std::memcpy(&offset, &code[at + 1], sizeof offset);
    const uint64_t target = address + at + kBytes + static_cast<uint64_t>(int64_t{offset});
    if (targets.contains(target))
      found.insert(target);
  }
}

// b and bl: a number of words in the low 26 bits.
void findAArch64(std::span<const std::byte> code, uint64_t address, const std::set<uint64_t> &targets,
                 std::set<uint64_t> &found) {
  constexpr uint32_t kMask = 0x7c000000, kBranch = 0x14000000;
  constexpr unsigned kUnused = 32 - 26, kWordShift = 2;
  for (size_t at = 0; at + sizeof(uint32_t) <= code.size(); at += sizeof(uint32_t)) {
    uint32_t instruction = 0;
    std::memcpy(&instruction, &code[at], sizeof instruction);
    if ((instruction & kMask) != kBranch)
      continue;
    const int64_t words = static_cast<int32_t>(instruction << kUnused) >> kUnused;
    const uint64_t target = address + at + (static_cast<uint64_t>(words) << kWordShift);
    if (targets.contains(target))
      found.insert(target);
  }
}

} // namespace

std::set<uint64_t> calledDirectly(Processor processor, std::span<const std::byte> code, uint64_t address,
                                  const std::set<uint64_t> &targets) {
  std::set<uint64_t> found;
  if (processor == Processor::X86_64)
    findX86(code, address, targets, found);
  else if (processor == Processor::AArch64)
    findAArch64(code, address, targets, found);
  return found;
}

} // namespace msleaks::analysis
