// Tests the index of two levels: the content of its root, the reading of its leaves, and damaged leaves.
#include "analysis/trace/chunk_index.h"
#include "analysis/trace/index_builder.h"
#include "random_events.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace msleaks::analysis::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr uint32_t kLeafStreams = 3;
constexpr uint64_t kLeafBatches = 3 * kLeafChunks + 100;
constexpr ChunkKinds kEvents = kindBit(ChunkKind::Events);

class LeavesTest : public testing::Test {
protected:
  void SetUp() override {
    auto writer = TraceWriter::create(file_);
    ASSERT_TRUE(writer->processStart({1, 100, 99, 5, 6, {"prog"}}));
    for (uint64_t batch = 0; batch < kLeafBatches; ++batch) {
      if (batch % 16 == 0) {
        const TraceWriter::CallerEntry caller{static_cast<uint32_t>(batch), 2, 3};
        ASSERT_TRUE(writer->callers(1, {&caller, 1}));
      }
      writeBatch(*writer);
    }
    ASSERT_TRUE(writer->definitions(1, std::as_bytes(std::span("records"))));
    ASSERT_TRUE(writer->streamAccount({1, 0, 100, "main", 18, 0, 0}));
    ASSERT_TRUE(writer->close());
  }

  // Writes two events of a random stream. The times of stream n + 1 are later than those of stream n, by the time of
  // 300 batches.
  void writeBatch(TraceWriter &writer) {
    const auto stream = static_cast<uint32_t>(random_() % kLeafStreams);
    const auto slots = randomSlots(2, 1000 + batches_++ * 1000 + uint64_t{stream} * 300'000, random_);
    ASSERT_TRUE(writer.events({1, stream, position_[stream], slots}));
    position_[stream] += slots.size();
  }

  IndexRoot root() const {
    const auto index = readIndex(*InputFile::open(file_));
    if (!index || !index->root)
      throw std::runtime_error("no root");
    return *index->root;
  }
  // Opens a copy without the trailer. The reader must walk over all chunks to find the content of the copy.
  TraceReader walked() const {
    const fs::path copy = folder_ / "walked";
    fs::copy_file(file_, copy, fs::copy_options::overwrite_existing);
    fs::resize_file(copy, fs::file_size(copy) - 1);
    return std::move(*TraceReader::open(copy));
  }
  void flipByteAt(uint64_t offset) const {
    std::fstream file(file_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(static_cast<std::streamoff>(offset));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(static_cast<char>(byte ^ 1));
  }
  void damageLeaves(ChunkKinds kinds) const {
    for (const LeafPlace &leaf : root().leaves)
      if ((leaf.kinds & kinds) != 0)
        flipByteAt(leaf.offset + sizeof(ChunkHeader));
  }

  std::mt19937_64 random_{9};
  uint64_t batches_ = 0;
  std::array<uint64_t, kLeafStreams> position_{};
  ScratchFolder folder_;
  fs::path file_ = folder_ / "trace.mslt";
};

TEST_F(LeavesTest, GiveWhatAWalkGives) {
  const auto reader = TraceReader::open(file_);
  const TraceReader walked = this->walked();
  ASSERT_FALSE(walked.closed());
  expectSame(readAll(*reader), readAll(walked));
  EXPECT_EQ(reader->eventCount(), 2 * kLeafBatches);
  for (uint32_t stream = 0; stream < kLeafStreams; ++stream) {
    EXPECT_EQ(reader->storedUntil(1, stream), walked.storedUntil(1, stream));
    EXPECT_EQ(reader->storedEvents(1, stream), walked.storedEvents(1, stream));
  }
  EXPECT_EQ(reader->definitionBytes(1), sizeof "records");
  std::vector<uint32_t> callers;
  EXPECT_TRUE(reader->forEachCallers([&](uint32_t, std::span<const TraceWriter::CallerEntry> entries) {
    for (const auto &entry : entries)
      callers.push_back(entry.index);
  }));
  EXPECT_EQ(callers.size(), (kLeafBatches + 15) / 16);
  EXPECT_TRUE(std::is_sorted(callers.begin(), callers.end()));
  EXPECT_TRUE(reader->damage().empty());
}

TEST_F(LeavesTest, WindowsGiveWhatAWalkGives) {
  const auto reader = TraceReader::open(file_);
  const TraceReader walked = this->walked();
  for (uint64_t begin_ns = 0; begin_ns < 4'000'000; begin_ns += 217'000)
    expectSame(readAll(*reader, begin_ns, begin_ns + 300'000), readAll(walked, begin_ns, begin_ns + 300'000));
}

TEST_F(LeavesTest, HoldWhatBelongsTogether) {
  uint64_t events = 0, event_leaves = 0;
  for (const LeafPlace &leaf : root().leaves) {
    EXPECT_LE(leaf.chunks, kLeafChunks);
    EXPECT_TRUE(leaf.kinds == kEvents || (leaf.kinds & kEvents) == 0);
    event_leaves += leaf.kinds == kEvents;
    events += leaf.events;
  }
  EXPECT_EQ(event_leaves, 4u);
  EXPECT_EQ(events, 2 * kLeafBatches);
}

TEST_F(LeavesTest, OpeningReadsNoneOfEvents) {
  damageLeaves(kEvents | kindBit(ChunkKind::Callers));
  const auto reader = TraceReader::open(file_);
  ASSERT_TRUE(reader);
  EXPECT_TRUE(reader->damage().empty());
  EXPECT_EQ(reader->eventCount(), 2 * kLeafBatches);
  EXPECT_EQ(reader->processes().size(), 1u);
  EXPECT_EQ(accountsOf(*reader).size(), 1u);
  EXPECT_EQ(reader->storedUntil(1, 0), position_[0]);
}

TEST_F(LeavesTest, AWindowReadsThoseThatReachIntoIt) {
  damageLeaves(kEvents);
  const auto reader = TraceReader::open(file_);
  EXPECT_FALSE(readAll(*reader, 0, 400'000).empty());
  EXPECT_EQ(reader->damage().size(), 1u);
}

TEST_F(LeavesTest, WhatADamagedOneListsIsFound) {
  const auto whole = readAll(*TraceReader::open(file_));
  const size_t leaves = root().leaves.size();
  damageLeaves(~ChunkKinds{0});
  const auto reader = TraceReader::open(file_);
  ASSERT_TRUE(reader);
  expectSame(readAll(*reader), whole);
  expectSame(readAll(*reader), whole);
  size_t callers = 0;
  for (int round = 0; round < 2; ++round)
    EXPECT_TRUE(reader->forEachCallers([&](uint32_t, std::span<const TraceWriter::CallerEntry>) { ++callers; }));
  EXPECT_EQ(callers, 2 * ((kLeafBatches + 15) / 16));
  EXPECT_EQ(reader->processes().size(), 1u);
  EXPECT_EQ(reader->damage().size(), leaves);
  for (const std::string &damage : reader->damage())
    EXPECT_THAT(damage, HasSubstr("index chunk at byte"));
}

TEST_F(LeavesTest, ADamagedRootMeansAWalk) {
  const auto whole = readAll(*TraceReader::open(file_));
  const uint64_t trailer = fs::file_size(file_) - sizeof(ChunkHeader) - sizeof(uint64_t);
  flipByteAt(trailer - 1); // the last byte of the root
  const auto reader = TraceReader::open(file_);
  ASSERT_TRUE(reader);
  EXPECT_TRUE(reader->closed());
  EXPECT_TRUE(reader->damage().empty());
  expectSame(readAll(*reader), whole);
}

// GIVEN a closed trace WHEN more is appended THEN its leaves stay, and the root refers to the old and the new leaves
TEST_F(LeavesTest, AppendingGoesOnWithThem) {
  const IndexRoot before = root();
  {
    auto writer = TraceWriter::append(file_);
    ASSERT_TRUE(writer);
    for (int i = 0; i < 10; ++i)
      writeBatch(*writer);
    ASSERT_TRUE(writer->definitions(1, std::as_bytes(std::span("more"))));
    ASSERT_TRUE(writer->close());
  }
  const IndexRoot after = root();
  ASSERT_EQ(after.leaves.size(), before.leaves.size() + 2);
  for (size_t i = 0; i < before.leaves.size(); ++i)
    EXPECT_EQ(after.leaves[i].offset, before.leaves[i].offset);
  const auto reader = TraceReader::open(file_);
  EXPECT_EQ(reader->eventCount(), 2 * (kLeafBatches + 10));
  EXPECT_EQ(reader->definitionBytes(1), sizeof "records" + sizeof "more");
  expectSame(readAll(*reader), readAll(walked()));
}

// GIVEN a killed session WHEN it is recovered THEN its trace has the index that it would have without the kill
TEST_F(LeavesTest, AppendingToAKilledOneMakesThemAnew) {
  const auto whole = readAll(*TraceReader::open(file_));
  fs::resize_file(file_, fs::file_size(file_) - 1);
  {
    auto writer = TraceWriter::append(file_);
    ASSERT_TRUE(writer && writer->close());
  }
  const auto reader = TraceReader::open(file_);
  EXPECT_TRUE(reader->closed());
  EXPECT_EQ(root().streams.size(), kLeafStreams);
  expectSame(readAll(*reader), whole);
}

// A collector that continued after a kill may have stored the last batch a second time. The reader must return each
// event once.
TEST_F(LeavesTest, WhatIsStoredTwiceComesOnce) {
  const auto whole = readAll(*TraceReader::open(file_));
  std::vector<abi::Slot> last;
  for (const StreamEvent &event : whole)
    if (event.stream == 0)
      last.assign(event.event.slots, event.event.slots + abi::slotsOf(event.event.header().kind));
  {
    auto writer = TraceWriter::append(file_);
    ASSERT_TRUE(writer->events({1, 0, position_[0] - last.size(), last}));
    ASSERT_TRUE(writer->close());
  }
  EXPECT_TRUE(root().streams.at(0).repeated);
  EXPECT_FALSE(root().streams.at(1).repeated);
  const auto reader = TraceReader::open(file_);
  EXPECT_EQ(reader->eventCount(), 2 * kLeafBatches);
  EXPECT_EQ(reader->storedUntil(1, 0), position_[0]);
  expectSame(readAll(*reader), whole);
}

// An older version of msleaks reads only flat indexes. It finds no entry in a root, and skips chunks of kind Index. So
// it must walk over all chunks.
TEST_F(LeavesTest, AnOlderReaderWalks) {
  const auto file = InputFile::open(file_);
  std::vector<uint8_t> bytes(fs::file_size(file_));
  ASSERT_TRUE(file->readAll(0, bytes));
  uint64_t begin = 0;
  std::memcpy(&begin, &bytes[bytes.size() - sizeof begin], sizeof begin);
  const auto header = parseChunkHeader(std::span(bytes).subspan(begin));
  ASSERT_TRUE(header);
  EXPECT_EQ(header->kind, ChunkKind::Index);
  std::vector<uint8_t> payload;
  ASSERT_TRUE(PayloadReader(*file).read(*header, begin, payload));
  std::vector<ChunkPlace> chunks;
  EXPECT_FALSE(EntryReader(begin).read(payload, chunks));
  EXPECT_TRUE(chunks.empty());
}

TEST_F(LeavesTest, ARootThatMakesNoSenseIsRefused) {
  ByteWriter good;
  IndexRoot root = this->root();
  const uint64_t end = fs::file_size(file_);
  writeRoot(root, good);
  ASSERT_TRUE(readRoot(good.written(), end));
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(readRoot(good.written().first(size), end)) << size;
  EXPECT_FALSE(readRoot(good.written(), root.leaves.back().offset));
  root.leaves[1].begin = root.leaves[1].offset + 1;
  ByteWriter bad;
  writeRoot(root, bad);
  EXPECT_FALSE(readRoot(bad.written(), end));
}

} // namespace
} // namespace msleaks::analysis::test
