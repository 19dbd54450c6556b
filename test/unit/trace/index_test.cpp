// The index of a trace that is too large for one chunk, or that is not there.
#include "random_events.h"
#include "trace/chunk_index.h"

#include <gtest/gtest.h>

namespace msleaks::analysis::test {
namespace {

using namespace trace;

constexpr uint32_t kChunks = 1000;

// A trace of small chunks, closed with this index; nothing for no index.
class ClosedTrace {
public:
  explicit ClosedTrace(std::optional<uint64_t> part_bytes) : index_(part_bytes.value_or(0)) {
    bytes_.fixed(makeFileHeader());
    for (uint32_t i = 0; i < kChunks; ++i) {
      const uint64_t offset = bytes_.written().size();
      const uint8_t payload[] = {2, 4, 6};
      index_.add({offset, pack({.kind = ChunkKind::Callers, .process = i}, payload)});
    }
    const uint64_t index_offset = bytes_.written().size();
    for (const auto part : part_bytes ? index_.parts() : std::vector<std::span<const uint8_t>>{})
      pack({.kind = ChunkKind::Index}, part);
    ByteWriter trailer;
    trailer.fixed(index_offset);
    pack({.kind = ChunkKind::Trailer}, trailer.written());
  }

  size_t parts() const { return index_.parts().size(); }

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
  IndexWriter index_;
};

void expectAll(const ChunkIndex &index) {
  EXPECT_TRUE(index.closed);
  EXPECT_TRUE(index.damage.empty());
  ASSERT_EQ(index.chunks.size(), kChunks);
  for (uint32_t i = 0; i < kChunks; ++i)
    EXPECT_EQ(index.chunks[i].header.process, i);
}

} // namespace

TEST(Index, GoesIntoSeveralChunksWhenItIsLarge) {
  for (const uint64_t part_bytes : {1u, 100u, 1u << 20}) {
    ClosedTrace trace(part_bytes);
    EXPECT_EQ(trace.parts() > 1, part_bytes < 1u << 20);
    expectAll(trace.read());
  }
}

// Written by versions that left out an index of more than 1 GiB.
TEST(Index, ATraceWithATrailerAloneIsClosed) { expectAll(ClosedTrace(std::nullopt).read()); }

} // namespace msleaks::analysis::test
