#include "analysis/trace/chunk_walk.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace msleaks::analysis::trace {

Result<std::optional<ChunkPlace>> ChunkWalk::next(std::vector<std::string> &damage) {
  const auto found = MSL_TRY(nextWhole(damage));
  if (!found)
    noteLost(end_, damage);
  return found;
}

Result<std::optional<ChunkPlace>> ChunkWalk::nextWhole(std::vector<std::string> &damage) {
  torn_.clear();
  const auto found = MSL_TRY(find(lost_from_));
  if (!found)
    return found;
  noteLost(found->offset, damage);
  lost_from_ = found->end();
  return found;
}

void ChunkWalk::growTo(uint64_t end) {
  end_ = end;
  window_size_ = 0; // its last bytes may be others now
}

// Bytes until the next magic, or until a magic may begin whose end is not in view.
static size_t distanceToMagic(std::span<const uint8_t> view) {
  uint8_t magic[sizeof kChunkMagic];
  std::memcpy(magic, &kChunkMagic, sizeof magic);
  const auto found = std::search(view.begin(), view.end(), std::begin(magic), std::end(magic));
  if (found != view.end())
    return static_cast<size_t>(found - view.begin());
  return view.size() - std::min(view.size(), sizeof magic - 1);
}

// The first whole chunk at or behind `at`.
Result<std::optional<ChunkPlace>> ChunkWalk::find(uint64_t at) {
  while (at + sizeof(ChunkHeader) <= end_) {
    const auto ahead = MSL_TRY(bytesAt(at));
    if (ahead.size() < sizeof(ChunkHeader))
      break; // the file has been cut meanwhile
    if (const std::optional<ChunkHeader> header = parseChunkHeader(ahead)) {
      const ChunkPlace place{at, *header};
      if (place.end() <= end_)
        return place;
      torn_ = fmt::format(" (the rest of a cut {} chunk of process {}, stream {}, {} events)", nameOf(header->kind),
                          header->process, header->stream, header->events);
    }
    at += 1 + distanceToMagic(ahead.subspan(1));
  }
  return std::nullopt;
}

// The file's content from `at` on: a header or more, less only at its end.
Result<std::span<const uint8_t>> ChunkWalk::bytesAt(uint64_t at) {
  if (at < window_begin_ || at + sizeof(ChunkHeader) > window_begin_ + window_size_) {
    const auto count = MSL_TRY(file_.read(at, window_));
    window_begin_ = at;
    window_size_ = count;
  }
  return std::span<const uint8_t>(window_).subspan(at - window_begin_, window_begin_ + window_size_ - at);
}

void ChunkWalk::noteLost(uint64_t until, std::vector<std::string> &damage) {
  if (until > lost_from_)
    damage.push_back(
        fmt::format("bytes {} to {} of {} are not a chunk and were skipped{}", lost_from_, until, file_.size(), torn_));
  torn_.clear();
}

} // namespace msleaks::analysis::trace
