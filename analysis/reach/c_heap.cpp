#include "analysis/reach/c_heap.h"

#include <algorithm>

namespace msleaks::analysis::inline reach {
namespace {

// A chunk begins with the size of the chunk before and its own size. The lowest bits of the size are flags.
constexpr uint64_t kChunkBefore = 1, kMappedChunk = 2, kOtherArena = 4, kChunkFlags = 7, kLeastChunk = 32;
// Where the state of an arena contains the address of the chunk at the arena's end, since glibc 2.26.
constexpr uint64_t kLastChunkInState = 96;
constexpr uint64_t kFarthestState = 256;
constexpr size_t kMostParts = 4096;

// Whether glibc's malloc has made the memory from `begin` on: there are two chunks of the main arena.
bool beginsWithChunks(const ProcessMemory &memory, uint64_t begin, uint64_t end) {
  uint64_t at = begin;
  for (int chunk = 0; chunk < 2; ++chunk) {
    uint64_t head[2];
    if (end - at < sizeof head || !memory.read(at, head))
      return false;
    const uint64_t size = head[1] & ~kChunkFlags;
    const bool is_chunk = (head[1] & kChunkFlags) == kChunkBefore && size % 16 == 0 && size >= kLeastChunk;
    if (!is_chunk || size > end - at)
      return false;
    at += size;
  }
  return true;
}

class HeapParts {
public:
  explicit HeapParts(const ProcessMemory &memory) : memory_(memory) {}

  std::vector<HeapPart> find(const std::vector<MappedRange> &maps) {
    bool is_glibc = false;
    for (const MappedRange &range : maps) {
      if (!range.readable || !range.writable)
        continue;
      if (range.path == "[heap]") {
        is_glibc = is_glibc || beginsWithChunks(memory_, range.begin, range.end);
        parts_.push_back({range.begin, range.end, true});
      } else if (range.isAnonymous()) {
        takeArenas(range);
      }
    }
    if (!is_glibc || parts_.size() > kMostParts)
      parts_.clear();
    return std::move(parts_);
  }

private:
  void takeArenas(const MappedRange &range) {
    const uint64_t first = (range.begin + kArenaPartBytes - 1) & ~(kArenaPartBytes - 1);
    for (uint64_t at = first; at < range.end; at += kArenaPartBytes)
      if (const auto part = arenaPartAt(memory_, at))
        takeArena(at, std::min(range.end, at + part->bytes), *part);
  }
  // malloc_trim() gives back nothing of the chunk at the end of an arena.
  void takeArena(uint64_t begin, uint64_t end, const ArenaPart &part) {
    uint64_t last_chunk = 0;
    if (!memory_.read(part.state + kLastChunkInState, last_chunk))
      return;
    if (last_chunk >= begin && last_chunk < end)
      end = last_chunk & ~(memory_.pageBytes() - 1);
    if (end > begin)
      parts_.push_back({begin, end, false});
  }

  const ProcessMemory &memory_;
  std::vector<HeapPart> parts_;
};

} // namespace

std::optional<ArenaPart> arenaPartAt(const ProcessMemory &memory, uint64_t address) {
  uint64_t head[4];
  if (memory.touched(address, address + memory.pageBytes()).empty() || !memory.read(address, head))
    return std::nullopt;
  const ArenaPart part{head[0], head[1], head[2], head[3]};
  const uint64_t offset = part.state % kArenaPartBytes;
  const bool is_part = offset < kFarthestState && offset >= sizeof head && part.before % kArenaPartBytes == 0 &&
                       part.bytes > 0 && part.bytes <= part.accessible && part.accessible <= kArenaPartBytes;
  return is_part ? std::optional(part) : std::nullopt;
}

std::vector<HeapPart> heapPartsOf(const ProcessMemory &memory, const std::vector<MappedRange> &maps) {
  return HeapParts(memory).find(maps);
}

} // namespace msleaks::analysis::inline reach
