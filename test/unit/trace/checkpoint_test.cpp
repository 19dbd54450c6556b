// Tests the checkpoints in a trace file. The root of the index refers to them. They are valid only until an event is
// added after them.
#include "analysis/trace/checkpoint.h"
#include "random_events.h"

#include "analysis/trace/chunk_index.h"

#include <array>
#include <fstream>
#include <gtest/gtest.h>

namespace msleaks::analysis::test {
namespace {

class CheckpointsInTrace : public testing::Test {
protected:
  CheckpointsInTrace() : file_(folder_ / "trace.mslt") {
    auto writer = TraceWriter::create(file_);
    EXPECT_TRUE(writer->processStart({1, 10, 1, 100, 0, {"x"}}));
    EXPECT_TRUE(store(*writer, 200));
    EXPECT_TRUE(writer->close());
  }
  Result<void> store(TraceWriter &writer, uint64_t time_ns) {
    const std::array slots{abi::Slot{{abi::EventKind::Free, abi::Heap::Host, 0, 0, 1, time_ns}, {16, 0}}};
    return writer.events({1, 0, position_++, slots});
  }
  PackedCheckpoint packed(uint64_t time_ns, uint64_t events, std::string_view state) {
    return packCheckpoint(time_ns, events, {reinterpret_cast<const uint8_t *>(state.data()), state.size()},
                          compressor_);
  }
  template <class F> void append(F &&f) {
    auto writer = TraceWriter::append(file_);
    ASSERT_TRUE(writer) << writer.error().message;
    f(*writer);
    ASSERT_TRUE(writer->close());
  }
  void addTwo() {
    append([&](TraceWriter &writer) {
      ASSERT_TRUE(writer.checkpoint(packed(150, 0, "nothing yet")));
      ASSERT_TRUE(writer.checkpoint(packed(250, 1, std::string(1'000, 'x'))));
    });
  }
  std::vector<CheckpointPlace> places() const { return TraceReader::open(file_)->checkpoints(); }

  ScratchFolder folder_;
  std::filesystem::path file_;
  Compressor compressor_;
  uint64_t position_ = 0;
};

TEST_F(CheckpointsInTrace, AreFoundAndRead) {
  EXPECT_TRUE(places().empty());
  addTwo();
  const auto reader = TraceReader::open(file_);
  ASSERT_EQ(reader->checkpoints().size(), 2u);
  const auto first = reader->checkpoint(reader->checkpoints()[0]), second = reader->checkpoint(places()[1]);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(std::tuple(first->time_ns, first->events), std::tuple(150u, 0u));
  EXPECT_EQ(std::string(first->state.begin(), first->state.end()), "nothing yet");
  EXPECT_EQ(std::tuple(second->time_ns, second->events), std::tuple(250u, 1u));
  EXPECT_EQ(std::string(second->state.begin(), second->state.end()), std::string(1'000, 'x'));
  EXPECT_TRUE(reader->damage().empty());
  EXPECT_EQ(readAll(*reader).size(), 1u);
}

TEST_F(CheckpointsInTrace, OneThatIsNotLaterIsLeftOut) {
  addTwo();
  addTwo();
  EXPECT_EQ(places().size(), 2u);
  append([&](TraceWriter &writer) { ASSERT_TRUE(writer.checkpoint(packed(251, 1, "later"))); });
  EXPECT_EQ(places().size(), 3u);
}

TEST_F(CheckpointsInTrace, NamesDoNotEndTheirUseAndAllElseDoes) {
  addTwo();
  append(
      [&](TraceWriter &writer) { ASSERT_TRUE(writer.names({{"/lib/x.so", {}}, {{0x10, {{"f", "x.c", 1, 1}}, ""}}})); });
  EXPECT_EQ(places().size(), 2u);
  const auto endsUse = [&](auto &&add) {
    addTwo();
    EXPECT_EQ(places().size(), 2u);
    append([&](TraceWriter &writer) { ASSERT_TRUE(add(writer)); });
    EXPECT_TRUE(places().empty());
  };
  endsUse([&](TraceWriter &writer) { return store(writer, 120); });
  endsUse([&](TraceWriter &writer) { return writer.processEnd({1, 300, 0, 0}); });
  endsUse([&](TraceWriter &writer) { return writer.processStart({2, 11, 1, 300, 0, {"y"}}); });
}

TEST_F(CheckpointsInTrace, ADamagedOneIsAnError) {
  addTwo();
  const auto found = places();
  for (const uint64_t at : {found[1].offset, found[1].offset + sizeof(ChunkHeader)}) { // in its header, in its payload
    std::fstream file(file_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file.put('!');
    file.close();
    const auto reader = TraceReader::open(file_);
    ASSERT_EQ(reader->checkpoints().size(), 2u);
    EXPECT_FALSE(reader->checkpoint(reader->checkpoints()[1]));
    EXPECT_TRUE(reader->checkpoint(reader->checkpoints()[0]));
    EXPECT_FALSE(reader->checkpoint({found[0].offset, 151})); // 150 would be the time of this checkpoint
  }
}

TEST_F(CheckpointsInTrace, AreLookedForInTheRootOnly) {
  addTwo();
  std::filesystem::resize_file(file_, std::filesystem::file_size(file_) - 1);
  EXPECT_TRUE(places().empty());
  EXPECT_EQ(readAll(*TraceReader::open(file_)).size(), 1u);
}

TEST(CheckpointsInRoot, ThatMakeNoSenseRefuseIt) {
  const auto accepts = [](std::vector<CheckpointPlace> places) {
    ByteWriter bytes;
    writeRoot({{}, {}, {}, std::move(places)}, bytes);
    return readRoot(bytes.written(), 1'000).has_value();
  };
  EXPECT_TRUE(accepts({{100, 5}, {200, 6}, {999, 7}}));
  EXPECT_FALSE(accepts({{100, 5}, {200, 5}}));
  EXPECT_FALSE(accepts({{100, 5}, {100, 6}}));
  EXPECT_FALSE(accepts({{100, 5}, {50, 6}}));
  EXPECT_FALSE(accepts({{100, 5}, {1'000, 6}}));
  EXPECT_FALSE(accepts({{31, 5}})); // inside the file's header
}

} // namespace
} // namespace msleaks::analysis::test
