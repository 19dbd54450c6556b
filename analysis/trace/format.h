// The bytes of a trace (docs/trace-format.md), which the writer writes and the reader expects.
//
//   FileHeader | chunk | chunk | …            a chunk: ChunkHeader | payload, stored_bytes of it
//
// All numbers are little-endian. The writer only appends, and never changes what is in the file. A file is readable
// without the index and the trailer at its end: they only save the reader from walking through all chunks.
#pragma once

#include "msleaks/abi/version.h"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace msleaks::analysis::inline trace {

static_assert(std::endian::native == std::endian::little, "the trace is written as the machine holds it");

// A format gets a new version if an older reader would misread it. A new chunk kind, event, field or encoding needs no
// new version. Chunks and columns contain their sizes: a reader skips and reports those that it does not know.
inline constexpr uint16_t kFormatVersion = 1;

// A byte that is not ASCII, then both kinds of line ends and a DOS end-of-file: a transfer as text damages this number.
inline constexpr uint64_t kFileMagic = 0x1a0a0d54'4c534d89; // "\x89MSLT\r\n\x1a"

struct FileHeader {
  uint64_t magic = kFileMagic;
  uint16_t format_version = kFormatVersion;
  uint16_t content_version = abi::kTraceContentVersion;
  uint32_t header_bytes = 32;
  uint64_t reserved = 0;
  uint64_t checksum = 0; // XXH3 of the 24 bytes before it
};
static_assert(sizeof(FileHeader) == 32);

enum class ChunkKind : uint16_t {
  ProcessStart = 1,
  ProcessEnd = 2,
  Definitions = 3,
  Callers = 4,
  Events = 5,
  StreamAccount = 6,
  Index = 7,
  Trailer = 8,
  PathsByNumber = 9, // only read, from older traces
  Names = 10,
  Paths = 11,
  ResidentOfFiles = 12, // only read, from older traces
  Resident = 13,
  Pointers = 14,
  PointerMap = 15,
  Sharing = 16,
};
inline constexpr ChunkKind kLastChunkKind = ChunkKind::Sharing; // the last kind that this version knows

// Whether a chunk of this kind contains samples of resident memory. No event refers to such a chunk.
constexpr bool isResident(ChunkKind kind) {
  return kind == ChunkKind::Resident || kind == ChunkKind::ResidentOfFiles || kind == ChunkKind::Sharing;
}

// The kind of an Index chunk, which its header stores in `stream`. Older readers know only Flat. They skip the others,
// and walk through the file if a trailer points to one of them.
enum class IndexLevel : uint32_t {
  Flat = 0,       // only read, from older traces: an entry for each chunk of the trace
  Leaf = 1,       // entries of up to kLeafChunks chunks
  Root = 2,       // the leaves, and sums that a reader needs without reading them
  Mark = 3,       // only a time: everything that is earlier is already stored before this chunk
  Checkpoint = 4, // the live set after all events until its time; first_position is their number
};

enum class Codec : uint16_t { None = 0, Zstd = 1 };

// After damage, a reader searches for this number. So its bytes are rare in compressed payload and in text.
inline constexpr uint64_t kChunkMagic = 0xc7a3f11e'4b43534d; // "MSCK\x1e\xf1\xa3\xc7"

struct ChunkHeader {
  uint64_t magic = kChunkMagic;
  ChunkKind kind{};
  Codec codec = Codec::None;
  uint32_t process = 0;
  uint32_t stream = 0;
  uint32_t events = 0;         // in an Events chunk
  uint64_t first_position = 0; // position of the first slot in the stream
  uint32_t slots = 0;          // positions [first_position, first_position + slots) are stored here
  uint32_t raw_bytes = 0;      // size of the payload when decompressed
  uint32_t stored_bytes = 0;   // size of the payload in the file
  uint32_t reserved = 0;
  uint64_t first_time_ns = 0; // the earliest time in the chunk; below it: the latest
  uint64_t last_time_ns = 0;
  uint64_t payload_checksum = 0; // XXH3 of the stored bytes
  uint64_t checksum = 0;         // XXH3 of the header up to here
};
static_assert(sizeof(ChunkHeader) == 80);

// The writer respects these limits. A reader that finds a larger number has found damage, and must not allocate for it.
inline constexpr uint32_t kMaxChunkEvents = 16384;
inline constexpr uint32_t kMaxEventsRawBytes = 16u << 20;
inline constexpr uint32_t kMaxRawBytes = 1u << 30;
inline constexpr uint32_t kMaxMetadataRawBytes = 1u << 20; // for chunks about a process or a stream
inline constexpr uint32_t kMaxCallersRawBytes = 4u << 20;
inline constexpr uint32_t kMaxPathsRawBytes = 4u << 20;
inline constexpr uint32_t kMaxNamesRawBytes = 16u << 20;
inline constexpr uint32_t kMaxPointersRawBytes = 1u << 20;
inline constexpr uint32_t kMaxPointerMapRawBytes = 16u << 20;
inline constexpr uint32_t kMaxArguments = 4096; // an empty argument takes a byte in the file and 32 in memory
inline constexpr uint32_t kMaxColumns = 1024;   // columns of an Events chunk, with those of later versions
// A payload that shrinks more is stored uncompressed: so a reader never allocates a gigabyte for a few damaged bytes.
inline constexpr uint64_t kMaxCompression = 1024;

constexpr uint32_t maxRawBytes(ChunkKind kind) {
  switch (kind) {
  case ChunkKind::ProcessStart:
  case ChunkKind::ProcessEnd:
  case ChunkKind::StreamAccount:
  case ChunkKind::Resident:
  case ChunkKind::ResidentOfFiles:
  case ChunkKind::Sharing:
    return kMaxMetadataRawBytes;
  case ChunkKind::Callers:
    return kMaxCallersRawBytes;
  case ChunkKind::Paths:
  case ChunkKind::PathsByNumber:
    return kMaxPathsRawBytes;
  case ChunkKind::Names:
    return kMaxNamesRawBytes;
  case ChunkKind::Pointers:
    return kMaxPointersRawBytes;
  case ChunkKind::PointerMap:
    return kMaxPointerMapRawBytes;
  case ChunkKind::Events:
    return kMaxEventsRawBytes;
  default:
    return kMaxRawBytes;
  }
}

constexpr bool plausibleSizes(const ChunkHeader &header) {
  const uint64_t raw = header.raw_bytes, stored = header.stored_bytes;
  if (raw > maxRawBytes(header.kind) || raw > (stored + 1) * kMaxCompression)
    return false;
  if (header.codec == Codec::None && raw != stored)
    return false;
  return header.kind != ChunkKind::Events || (header.events <= kMaxChunkEvents && header.slots >= header.events);
}

constexpr const char *nameOf(ChunkKind kind) {
  switch (kind) {
  case ChunkKind::ProcessStart:
    return "process start";
  case ChunkKind::ProcessEnd:
    return "process end";
  case ChunkKind::Definitions:
    return "definitions";
  case ChunkKind::Callers:
    return "callers";
  case ChunkKind::Events:
    return "events";
  case ChunkKind::StreamAccount:
    return "stream account";
  case ChunkKind::Index:
    return "index";
  case ChunkKind::Trailer:
    return "trailer";
  case ChunkKind::Paths:
  case ChunkKind::PathsByNumber:
    return "paths";
  case ChunkKind::Names:
    return "names";
  case ChunkKind::Resident:
  case ChunkKind::ResidentOfFiles:
    return "resident memory";
  case ChunkKind::Pointers:
    return "pointers";
  case ChunkKind::PointerMap:
    return "pointer map";
  case ChunkKind::Sharing:
    return "shared memory";
  }
  return "unknown";
}

} // namespace msleaks::analysis::inline trace
