// Calls that a linker has bound for ever: found in the code, as nothing else tells of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>

namespace msleaks::analysis {

enum class Processor { X86_64, AArch64, Other };

// Which of `targets` the code, which lies at `address`, calls or jumps to directly. Where a byte belongs to no call it
// is still looked at as one: a hit by chance is as rare as four bytes that agree.
std::set<uint64_t> calledDirectly(Processor, std::span<const std::byte> code, uint64_t address,
                                  const std::set<uint64_t> &targets);

} // namespace msleaks::analysis
