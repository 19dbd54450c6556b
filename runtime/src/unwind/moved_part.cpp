#include "unwind/moved_part.h"

#include "loaded_object.h"
#include "unwind/code.h"
#include "unwind/tables.h"

#include <cstring>

namespace msleaks::runtime::unwind {
namespace {

// Calls take(ADDRESS) for the target of each direct jump. On x86-64, instructions have no fixed length, so a few of the
// targets come from other bytes.
template <class Take> void forEachJump(const FunctionRange &code, Take take) noexcept {
  const auto *bytes = reinterpret_cast<const unsigned char *>(code.begin);
#if defined(__x86_64__)
  constexpr uint64_t kJump = 5, kConditional = 6; // their lengths: opcode and a distance of 4 bytes
  for (uint64_t at = 0; at + kConditional <= code.bytes; ++at) {
    const bool is_conditional = bytes[at] == 0x0f && (bytes[at + 1] & 0xf0) == 0x80;
    if (!is_conditional && bytes[at] != 0xe9)
      continue;
    const uint64_t end = at + (is_conditional ? kConditional : kJump);
    int32_t distance = 0;
    std::memcpy(&distance, bytes + end - sizeof distance, sizeof distance);
    take(code.begin + end + static_cast<uint64_t>(int64_t{distance}));
  }
#elif defined(__aarch64__)
  for (uint64_t at = 0; at + sizeof(uint32_t) <= code.bytes; at += sizeof(uint32_t)) {
    uint32_t word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    if ((word & 0xfc00'0000) == 0x1400'0000) // b, with a distance of 26 bits in words
      take(code.begin + at + static_cast<uint64_t>(int64_t{static_cast<int32_t>(word << 6) >> 6} * 4));
  }
#endif
}

// Counts the jumps into other functions, behind their begins.
class Targets {
public:
  void add(uint64_t function) noexcept {
    for (Target &target : targets_)
      if (target.function == function || target.jumps == 0) {
        target.function = function;
        ++target.jumps;
        return;
      }
  }
  // Returns the function with the most jumps, or 0 if there are too few: one may come from bytes that are no jump.
  uint64_t most() const noexcept {
    constexpr uint32_t kLeastJumps = 2;
    const Target *most = targets_;
    for (const Target &target : targets_)
      most = target.jumps > most->jumps ? &target : most;
    return most->jumps >= kLeastJumps ? most->function : 0;
  }

private:
  struct Target {
    uint64_t function;
    uint32_t jumps; // 0: this entry is free
  };
  Target targets_[32] = {};
};

} // namespace

// A jump to the begin of another function is a tail call. Only parts of the same function are entered elsewhere.
uint64_t movedPartOf(uint64_t function) noexcept {
  LoadedObject object;
  Tables tables{};
  if (!findLoadedObject(function, object) || !findTables(object, tables))
    return 0;
  const FunctionRange own = findFunction(tables, function);
  if (own.begin != function || !isCodeOf(object, own.begin, own.bytes))
    return 0;
  Targets targets;
  forEachJump(own, [&](uint64_t to) {
    if (own.holds(to) || !isCodeOf(object, to, 1))
      return;
    if (const uint64_t begin = findFunction(tables, to).begin; begin != 0 && begin != to)
      targets.add(begin);
  });
  return targets.most();
}

} // namespace msleaks::runtime::unwind
