#include "trace/chunk_index.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace msleaks::analysis::trace {

namespace {

// Every field of a header that is not a constant; the same list writes and reads an index entry.
template <class Header, class F> void visitHeader(Header &header, F &&f) {
  f(header.kind);
  f(header.codec);
  f(header.process);
  f(header.stream);
  f(header.events);
  f(header.first_position);
  f(header.slots);
  f(header.raw_bytes);
  f(header.stored_bytes);
}

constexpr uint64_t kTrailerBytes = sizeof(ChunkHeader) + sizeof(uint64_t);

} // namespace

void IndexWriter::add(const ChunkPlace &place) {
  const size_t size = entries_.written().size();
  if (size - (part_begins_.empty() ? 0 : part_begins_.back()) >= part_bytes_)
    part_begins_.push_back(size);
  entries_.varint(place.offset - previous_end_);
  visitHeader(place.header, [&](auto value) { entries_.varint(static_cast<uint64_t>(value)); });
  entries_.varint(zigzag(place.header.first_time_ns - previous_time_));
  entries_.varint(place.header.last_time_ns - place.header.first_time_ns);
  entries_.fixed(place.header.payload_checksum);
  previous_end_ = place.end();
  previous_time_ = place.header.first_time_ns;
}

std::vector<std::span<const uint8_t>> IndexWriter::parts() const {
  std::vector<std::span<const uint8_t>> parts;
  const std::span<const uint8_t> all = entries_.written();
  for (size_t i = 0; i <= part_begins_.size(); ++i) {
    const size_t begin = i == 0 ? 0 : part_begins_[i - 1];
    const size_t end = i == part_begins_.size() ? all.size() : part_begins_[i];
    parts.push_back(all.subspan(begin, end - begin));
  }
  return parts;
}

namespace {

// The entries of the payloads of an index, one payload after the other.
class IndexEntries {
public:
  explicit IndexEntries(uint64_t file_end) : file_end_(file_end) {}

  // False when they are not what an IndexWriter writes for a file of that size.
  bool read(std::span<const uint8_t> payload, std::vector<ChunkPlace> &chunks) {
    ByteReader entries(payload);
    while (entries.left() > 0) {
      ChunkPlace place{};
      place.offset = end_ + entries.varint();
      visitHeader(place.header, [&](auto &value) {
        value = static_cast<std::remove_reference_t<decltype(value)>>(entries.varint());
      });
      place.header.first_time_ns = time_ + unzigzag(entries.varint());
      place.header.last_time_ns = place.header.first_time_ns + entries.varint();
      place.header.payload_checksum = entries.fixed<uint64_t>();
      const bool inside = place.offset >= end_ && place.offset >= sizeof(FileHeader) && place.offset < file_end_ &&
                          place.end() <= file_end_;
      if (entries.failed() || !inside || !plausibleSizes(place.header))
        return false;
      end_ = place.end();
      time_ = place.header.first_time_ns;
      chunks.push_back(place);
    }
    return true;
  }

private:
  uint64_t file_end_, end_ = 0, time_ = 0;
};

// The chunk of this kind at `offset`, if there is one that ends at or before `limit`.
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

// Where the index begins, as the trailer at the end of the file has it; nothing when there is none.
Result<std::optional<uint64_t>> indexOffset(const InputFile &file) {
  if (file.size() < sizeof(FileHeader) + kTrailerBytes)
    return std::nullopt;
  const auto trailer = MSL_TRY(chunkAt(file, file.size() - kTrailerBytes, file.size(), ChunkKind::Trailer));
  std::vector<uint8_t> payload;
  if (!trailer || (trailer)->header.stored_bytes != sizeof(uint64_t) ||
      !PayloadReader(file).read((trailer)->header, (trailer)->offset, payload) || payload.size() != sizeof(uint64_t))
    return std::nullopt;
  uint64_t offset = 0;
  std::memcpy(&offset, payload.data(), sizeof offset);
  return offset;
}

} // namespace

// Reads the index that the trailer at the end of the file points to. False when there is none, or not a whole one.
static Result<bool> readStoredIndex(const InputFile &file, ChunkIndex &index) {
  const auto begin = MSL_TRY(indexOffset(file));
  if (!begin)
    return false;
  const uint64_t end = file.size() - kTrailerBytes;
  IndexEntries entries(*begin);
  std::vector<uint8_t> payload;
  uint64_t at = *begin;
  while (at < end) {
    const auto part = MSL_TRY(chunkAt(file, at, end, ChunkKind::Index));
    if (!part || !PayloadReader(file).read((part)->header, at, payload) || !entries.read(payload, index.chunks))
      break;
    at = (part)->end();
  }
  if (at != end || at == *begin) {
    index.chunks.clear();
    return false;
  }
  index.end = file.size();
  index.closed = true;
  return true;
}

namespace {

// Goes from chunk to chunk; where there is none, on to the next place that looks like one.
class Walk {
public:
  Walk(const InputFile &file, ChunkIndex &index) : file_(file), index_(index), window_(kWindowBytes) {}

  Result<void> run(uint64_t from) {
    uint64_t lost_from = from;
    for (uint64_t at = from; at < file_.size();) {
      const auto found = MSL_TRY(find(at));
      if (!found)
        break;
      noteLost(lost_from, (found)->offset);
      take(*found);
      at = lost_from = (found)->end();
    }
    noteLost(lost_from, file_.size());
    return {};
  }

private:
  static constexpr size_t kWindowBytes = 256 << 10;

  // The first whole chunk at or behind `at`.
  Result<std::optional<ChunkPlace>> find(uint64_t at) {
    while (at + sizeof(ChunkHeader) <= file_.size()) {
      const auto ahead = MSL_TRY(bytesAt(at));
      if (ahead.size() < sizeof(ChunkHeader))
        break; // the file has been cut meanwhile
      if (const std::optional<ChunkHeader> header = parseChunkHeader(ahead)) {
        const ChunkPlace place{at, *header};
        if (place.end() <= file_.size())
          return place;
        torn_ = fmt::format(" (the rest of a cut {} chunk of process {}, stream {}, {} events)", nameOf(header->kind),
                            header->process, header->stream, header->events);
      }
      at += 1 + distanceToMagic(ahead.subspan(1));
    }
    return std::nullopt;
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

  // The file's content from `at` on: a header or more, less only at its end.
  Result<std::span<const uint8_t>> bytesAt(uint64_t at) {
    if (at < window_begin_ || at + sizeof(ChunkHeader) > window_begin_ + window_size_) {
      const auto count = MSL_TRY(file_.read(at, window_));
      window_begin_ = at;
      window_size_ = count;
    }
    return std::span<const uint8_t>(window_).subspan(at - window_begin_, window_begin_ + window_size_ - at);
  }

  void noteLost(uint64_t begin, uint64_t end) {
    if (end > begin)
      index_.damage.push_back(
          fmt::format("bytes {} to {} of {} are not a chunk and were skipped{}", begin, end, file_.size(), torn_));
    torn_.clear();
  }

  void take(const ChunkPlace &place) {
    index_.end = place.end();
    // A trailer behind no index, or a damaged one, says all the same that the session ended in order.
    index_.closed = place.header.kind == ChunkKind::Trailer && place.end() == file_.size();
    if (place.header.kind != ChunkKind::Index && place.header.kind != ChunkKind::Trailer)
      index_.chunks.push_back(place);
  }

  const InputFile &file_;
  ChunkIndex &index_;
  std::vector<uint8_t> window_;
  uint64_t window_begin_ = 0;
  size_t window_size_ = 0;
  std::string torn_;
};

} // namespace

// Checks the file's header and notes damage to it. Fails for what is no trace of ours, or too new.
static Result<void> checkFileHeader(const InputFile &file, ChunkIndex &index, bool &damaged) {
  FileHeader header{};
  std::span<uint8_t> bytes(reinterpret_cast<uint8_t *>(&header), sizeof header);
  if (file.size() == 0)
    return fail(fmt::format("'{}' is empty: its session was killed before it wrote anything", file.name()));
  const auto count = MSL_TRY(file.read(0, bytes));
  const FileHeader whole = makeFileHeader();
  if (count < sizeof header) {
    if (std::memcmp(&header, &whole, count) == 0)
      return fail(fmt::format("'{}' is cut off in its first {} bytes: nothing is left to read", file.name(), count));
    return fail(fmt::format("'{}' is not a trace of msleaks", file.name()));
  }
  damaged = header.checksum != checksumOf(bytes.first(sizeof header - sizeof header.checksum));
  if (!damaged && header.magic != kFileMagic)
    return fail(fmt::format("'{}' is not a trace of msleaks", file.name()));
  if (!damaged && (header.format_version > kFormatVersion || header.content_version > abi::kTraceContentVersion))
    return fail(fmt::format("'{}' was written by a newer msleaks (format {}.{}, this one reads up to {}.{}): use that "
                            "version or a later one to read it",
                            file.name(), header.format_version, header.content_version, kFormatVersion,
                            abi::kTraceContentVersion));
  if (damaged)
    index.damage.push_back("the file's header is damaged");
  return {};
}

Result<ChunkIndex> readIndex(const InputFile &file) {
  ChunkIndex index;
  bool damaged = false;
  MSL_TRY(checkFileHeader(file, index, damaged));
  const auto stored = MSL_TRY(readStoredIndex(file, index));
  if (stored)
    return index;
  index.end = sizeof(FileHeader);
  MSL_TRY(Walk(file, index).run(sizeof(FileHeader)));
  if (damaged && index.chunks.empty())
    return fail(fmt::format("'{}' is not a trace of msleaks", file.name()));
  return index;
}

} // namespace msleaks::analysis::trace
