// Tests traces with several index chunks, and traces without an index.
#include "analysis/trace/chunk_index.h"
#include "random_events.h"

#include <gtest/gtest.h>

namespace msleaks::analysis::test {
namespace {

constexpr uint32_t kChunks = 1000;

// A trace of small chunks. It has a flat index in parts of `part_chunks` entries, or no index.
class ClosedTrace {
public:
  explicit ClosedTrace(std::optional<uint32_t> part_chunks) {
    bytes_.fixed(makeFileHeader());
    for (uint32_t i = 0; i < kChunks; ++i) {
      const uint64_t offset = bytes_.written().size();
      const uint8_t payload[] = {2, 4, 6};
      const ChunkPlace place{offset, pack({.kind = ChunkKind::Callers, .process = i}, payload)};
      const size_t before = entries_.written().size();
      entries_.add(place);
      if (part_chunks && i % *part_chunks == 0)
        part_begins_.push_back(before);
    }
    const uint64_t index_offset = bytes_.written().size();
    part_begins_.push_back(entries_.written().size());
    for (size_t i = 0; i + 1 < part_begins_.size(); ++i)
      pack({.kind = ChunkKind::Index},
           entries_.written().subspan(part_begins_[i], part_begins_[i + 1] - part_begins_[i]));
    ByteWriter trailer;
    trailer.fixed(index_offset);
    pack({.kind = ChunkKind::Trailer}, trailer.written());
  }

  ChunkIndex read() {
    const auto path = folder_ / "trace.mslt";
    auto file = AppendFile::create(path);
    EXPECT_TRUE(file && file->append(bytes_.written()));
    auto index = readIndex(*InputFile::open(path));
    EXPECT_TRUE(index);
    return std::move(*index);
  }

private:
  ChunkHeader pack(ChunkHeader header, std::span<const uint8_t> payload) {
    return packChunk(header, payload, compressor_, bytes_);
  }

  ScratchFolder folder_;
  Compressor compressor_;
  ByteWriter bytes_;
  EntryWriter entries_;
  std::vector<size_t> part_begins_;
};

void expectAll(const ChunkIndex &index) {
  EXPECT_TRUE(index.closed);
  EXPECT_TRUE(index.damage.empty());
  ASSERT_EQ(index.chunks.size(), kChunks);
  for (uint32_t i = 0; i < kChunks; ++i)
    EXPECT_EQ(index.chunks[i].header.process, i);
}

} // namespace

// Earlier versions wrote a flat index, with an entry for each chunk. An index of 256 MiB or more was split into several
// index chunks.
TEST(Index, FlatOnesOfOlderTracesAreRead) {
  for (const uint32_t part_chunks : {1u, 7u, kChunks})
    expectAll(ClosedTrace(part_chunks).read());
}

// Earlier versions wrote no index if it would have been larger than 1 GiB. A trace with a trailer but no index must
// count as closed.
TEST(Index, ATraceWithATrailerAloneIsClosed) { expectAll(ClosedTrace(std::nullopt).read()); }

} // namespace msleaks::analysis::test
