#include "analysis/trace/chunk_index.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace msleaks::analysis::inline trace {

namespace {

constexpr uint64_t kTrailerBytes = sizeof(ChunkHeader) + sizeof(uint64_t);

// Returns the chunk of this kind at `offset`, if it ends at or before `limit`.
Result<std::optional<ChunkPlace>> chunkAt(const InputFile &file, uint64_t offset, uint64_t limit, ChunkKind kind) {
  if (offset < sizeof(FileHeader) || offset > limit || limit - offset < sizeof(ChunkHeader))
    return std::nullopt;
  uint8_t bytes[sizeof(ChunkHeader)];
  MSL_TRY(file.readAll(offset, bytes));
  const std::optional<ChunkHeader> header = parseChunkHeader(bytes);
  if (!header || header->kind != kind)
    return std::nullopt;
  const ChunkPlace place{offset, *header};
  return place.end() <= limit ? std::optional(place) : std::nullopt;
}

// Returns where the index begins, as the trailer at the end of the file says. Returns nothing if there is no trailer.
Result<std::optional<uint64_t>> indexOffset(const InputFile &file) {
  if (file.size() < sizeof(FileHeader) + kTrailerBytes)
    return std::nullopt;
  const auto trailer = MSL_TRY(chunkAt(file, file.size() - kTrailerBytes, file.size(), ChunkKind::Trailer));
  std::vector<uint8_t> payload;
  if (!trailer || trailer->header.stored_bytes != sizeof(uint64_t) ||
      !PayloadReader(file).read(trailer->header, trailer->offset, payload) || payload.size() != sizeof(uint64_t))
    return std::nullopt;
  uint64_t offset = 0;
  std::memcpy(&offset, payload.data(), sizeof offset);
  return offset;
}

bool isOfLevel(const ChunkHeader &header, IndexLevel level) { return header.stream == static_cast<uint32_t>(level); }

// Reads the flat index from `begin` to the trailer. Returns false if it is not complete.
Result<bool> readFlatIndex(const InputFile &file, uint64_t begin, std::vector<ChunkPlace> &chunks) {
  const uint64_t end = file.size() - kTrailerBytes;
  EntryReader entries(begin);
  std::vector<uint8_t> payload;
  uint64_t at = begin;
  while (at < end) {
    const auto part = MSL_TRY(chunkAt(file, at, end, ChunkKind::Index));
    if (!part || !isOfLevel(part->header, IndexLevel::Flat) || !PayloadReader(file).read(part->header, at, payload) ||
        !entries.read(payload, chunks))
      break;
    at = part->end();
  }
  if (at == end && at != begin)
    return true;
  chunks.clear();
  return false;
}

// Reads the index that the trailer at the end of the file points to. Returns false if there is no complete index.
Result<bool> readStoredIndex(const InputFile &file, ChunkIndex &index) {
  const auto begin = MSL_TRY(indexOffset(file));
  if (!begin)
    return false;
  const uint64_t end = file.size() - kTrailerBytes;
  const auto first = MSL_TRY(chunkAt(file, *begin, end, ChunkKind::Index));
  if (!first)
    return false;
  if (isOfLevel(first->header, IndexLevel::Root)) {
    std::vector<uint8_t> payload;
    if (PayloadReader(file).read(first->header, first->offset, payload))
      index.root = readRoot(payload, *begin);
  }
  if (!index.root && !MSL_TRY(readFlatIndex(file, *begin, index.chunks)))
    return false;
  index.end = file.size();
  index.closed = true;
  return true;
}

Result<void> walk(const InputFile &file, ChunkIndex &index) {
  index.end = sizeof(FileHeader);
  ChunkWalk walk(file, sizeof(FileHeader), file.size());
  for (auto found = MSL_TRY(walk.next(index.damage)); found; found = MSL_TRY(walk.next(index.damage))) {
    index.end = found->end();
    // A trailer without an index, or with a damaged one, still means that the session ended in order.
    index.closed = found->header.kind == ChunkKind::Trailer && found->end() == file.size();
    if (found->header.kind != ChunkKind::Index && found->header.kind != ChunkKind::Trailer)
      index.chunks.push_back(*found);
  }
  return {};
}

// Returns false if the leaf cannot be read, or differs from what the root says about it.
bool readStoredLeaf(const InputFile &file, const LeafPlace &leaf, std::vector<ChunkPlace> &chunks) {
  const auto place = chunkAt(file, leaf.offset, file.size(), ChunkKind::Index);
  std::vector<uint8_t> payload;
  EntryReader entries(leaf.offset);
  if (!place || !*place || !isOfLevel((*place)->header, IndexLevel::Leaf) ||
      !PayloadReader(file).read((*place)->header, leaf.offset, payload) || !entries.read(payload, chunks) ||
      chunks.size() != leaf.chunks)
    return false;
  return std::all_of(chunks.begin(), chunks.end(), [&](const ChunkPlace &chunk) {
    return (kindBit(chunk.header.kind) & leaf.kinds) != 0 && chunk.header.first_time_ns >= leaf.first_time_ns;
  });
}

} // namespace

Result<bool> checkFileHeader(const InputFile &file) {
  FileHeader header{};
  const std::span<uint8_t> bytes(reinterpret_cast<uint8_t *>(&header), sizeof header);
  if (file.size() == 0)
    return fail(fmt::format("'{}' is empty: its session was killed before it wrote anything", file.name()));
  const auto count = MSL_TRY(file.read(0, bytes));
  const FileHeader whole = makeFileHeader();
  if (count < sizeof header) {
    if (std::memcmp(&header, &whole, count) == 0)
      return fail(fmt::format("'{}' is cut off in its first {} bytes: nothing is left to read", file.name(), count));
    return fail(fmt::format("'{}' is not a trace of msleaks", file.name()));
  }
  const bool damaged = header.checksum != checksumOf(bytes.first(sizeof header - sizeof header.checksum));
  if (!damaged && header.magic != kFileMagic)
    return fail(fmt::format("'{}' is not a trace of msleaks", file.name()));
  if (!damaged && (header.format_version > kFormatVersion || header.content_version > abi::kTraceContentVersion))
    return fail(fmt::format("'{}' was written by a newer msleaks (format {}.{}, this one reads up to {}.{}): use that "
                            "version or a later one to read it",
                            file.name(), header.format_version, header.content_version, kFormatVersion,
                            abi::kTraceContentVersion));
  return !damaged;
}

Result<std::vector<ChunkPlace>> readLeaf(const InputFile &file, const LeafPlace &leaf,
                                         std::vector<std::string> &damage) {
  std::vector<ChunkPlace> chunks;
  if (readStoredLeaf(file, leaf, chunks))
    return chunks;
  damage.push_back(fmt::format("index chunk at byte {}: it is damaged; the {} chunks that it lists are looked for in "
                               "bytes {} to {}",
                               leaf.offset, leaf.chunks, leaf.begin, leaf.end));
  chunks.clear();
  ChunkWalk walk(file, leaf.begin, std::min(leaf.end, file.size()));
  for (auto found = MSL_TRY(walk.next(damage)); found; found = MSL_TRY(walk.next(damage)))
    if ((kindBit(found->header.kind) & leaf.kinds) != 0)
      chunks.push_back(*found);
  return chunks;
}

Result<ChunkIndex> readIndex(const InputFile &file) {
  ChunkIndex index;
  const bool damaged = !MSL_TRY(checkFileHeader(file));
  if (damaged)
    index.damage.push_back("the file's header is damaged");
  if (MSL_TRY(readStoredIndex(file, index)))
    return index;
  MSL_TRY(walk(file, index));
  if (damaged && index.chunks.empty())
    return fail(fmt::format("'{}' is not a trace of msleaks", file.name()));
  return index;
}

Result<ChunkIndex> readWholeIndex(const InputFile &file) {
  auto index = MSL_TRY(readIndex(file));
  if (!index.root)
    return index;
  for (const LeafPlace &leaf : index.root->leaves) {
    const auto chunks = MSL_TRY(readLeaf(file, leaf, index.damage));
    index.chunks.insert(index.chunks.end(), chunks.begin(), chunks.end());
  }
  std::sort(index.chunks.begin(), index.chunks.end(),
            [](const ChunkPlace &a, const ChunkPlace &b) { return a.offset < b.offset; });
  return index;
}

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
  window_size_ = 0; // the last bytes of the window may have changed
}

// Counts the bytes before the next magic number. At the end of the view, a magic number may begin that continues later.
static size_t distanceToMagic(std::span<const uint8_t> view) {
  uint8_t magic[sizeof kChunkMagic];
  std::memcpy(magic, &kChunkMagic, sizeof magic);
  const auto found = std::search(view.begin(), view.end(), std::begin(magic), std::end(magic));
  if (found != view.end())
    return static_cast<size_t>(found - view.begin());
  return view.size() - std::min(view.size(), sizeof magic - 1);
}

// Returns the first whole chunk at `at` or after it.
Result<std::optional<ChunkPlace>> ChunkWalk::find(uint64_t at) {
  while (at + sizeof(ChunkHeader) <= end_) {
    const auto ahead = MSL_TRY(bytesAt(at));
    if (ahead.size() < sizeof(ChunkHeader))
      break; // somebody has truncated the file
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

// Returns the file's content from `at` on. It is shorter than a header only at the end of the file.
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

} // namespace msleaks::analysis::inline trace
