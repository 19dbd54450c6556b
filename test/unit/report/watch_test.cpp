// Tests what the report says about changes of watched blocks. A change is no finding if the operation before it was
// allowed to change the block.
#include "report_fixture.h"

#include "analysis/live/device_ranges.h"

namespace msleaks::analysis {
namespace {

constexpr uint64_t kBlock = 0x5000, kBytes = 4096;

StreamEvent of(const abi::AnyEvent &event) { return {1, 1, event}; }

StreamEvent watch(uint64_t at, uint64_t bytes = kBytes, bool from_birth = false) {
  abi::WatchEvent event{};
  event.header = {abi::EventKind::Watch, abi::Heap::Device, 0, 0, 0, kStart + at};
  event.address = kBlock;
  event.name = 1;
  event.continuation = abi::kContinuationTag;
  event.size = bytes;
  event.from_birth = from_birth ? 1 : 0;
  return of(abi::AnyEvent::from(event));
}

StreamEvent changed(uint64_t at, uint64_t operation, uint32_t site = 2) {
  abi::ChangedEvent event{};
  event.header = {abi::EventKind::Changed, abi::Heap::Device, 0, 0, site, kStart + at};
  event.address = kBlock;
  event.name = 1;
  event.continuation = abi::kContinuationTag;
  event.operation = operation;
  event.offset = 128;
  event.size = 16;
  return of(abi::AnyEvent::from(event));
}

StreamEvent content(uint64_t at, uint64_t digest, uint64_t file) {
  abi::ContentEvent event{};
  event.header = {abi::EventKind::Content, abi::Heap::Device, 0, 0, 2, kStart + at};
  event.address = kBlock;
  event.name = 1;
  event.continuation = abi::kContinuationTag;
  event.digest = digest;
  event.file = file;
  return of(abi::AnyEvent::from(event));
}

StreamEvent launch(uint64_t at, bool is_listed) {
  abi::LaunchEvent event{};
  event.header = {
      abi::EventKind::Launch, abi::Heap::Device, 0, is_listed ? uint32_t{abi::kListed} : 0u, 2, kStart + at};
  event.continuation = abi::kContinuationTag;
  return of(abi::AnyEvent::from(event));
}

StreamEvent given(uint64_t at, uint64_t address, uint32_t flags = 0) {
  return of(abi::AnyEvent::from(
      abi::AccessEvent{{abi::EventKind::Access, abi::Heap::Device, 0, flags, 2, kStart + at}, address, 0}));
}

StreamEvent copy(uint64_t at, uint64_t to, uint64_t bytes) {
  abi::CopyEvent event{};
  event.header = {abi::EventKind::Copy, abi::Heap::Device, 0, 0, 2, kStart + at};
  event.destination = to;
  event.source = 0x100000;
  event.continuation = abi::kContinuationTag;
  event.size = bytes;
  return of(abi::AnyEvent::from(event));
}

StreamEvent shows(uint64_t at, uint64_t handle) {
  abi::MappedEvent event{};
  event.header = {abi::EventKind::Mapped, abi::Heap::Device, 0, 0, 0, kStart + at};
  event.address = handle;
  event.size = kHandleBytes;
  event.continuation = abi::kContinuationTag;
  event.block = kBlock;
  return of(abi::AnyEvent::from(event));
}

StreamEvent begins(uint64_t at, uint64_t id = 0) {
  return of(abi::AnyEvent::from(
      abi::RangeBeginEvent{{abi::EventKind::RangeBegin, abi::Heap::Host, 0, 0, 0, kStart + at}, 2, id}));
}

StreamEvent ends(uint64_t at) {
  return of(
      abi::AnyEvent::from(abi::RangeEndEvent{{abi::EventKind::RangeEnd, abi::Heap::Host, 0, 0, 0, kStart + at}, 0, 0}));
}

StreamEvent stepAt(uint64_t at, uint64_t number) {
  return of(
      abi::AnyEvent::from(abi::StepEvent{{abi::EventKind::Step, abi::Heap::Host, 0, 0, 0, kStart + at}, number, 0}));
}

class WatchTest : public ReportTest {
protected:
  json watchOf(const std::vector<StreamEvent> &list) {
    start(1, 4711);
    const std::string labels = record(abi::DefinitionKind::String, raw(abi::StringDefinition{1, 0}) + "weights") +
                               record(abi::DefinitionKind::String, raw(abi::StringDefinition{2, 0}) + "relu");
    EXPECT_TRUE(writer->definitions(1, std::as_bytes(std::span(labels))));
    events(list);
    end(1, 0, kStart + 10'000);
    manifest();
    close();
    whole = asJson();
    return whole["watch"];
  }
  json rowsOfBlocks() const {
    for (const json &section : whole["sections"])
      if (section["name"] == "watched")
        return section["rows"];
    return {};
  }
  json whole;
};

} // namespace

TEST_F(WatchTest, NamesWhoWasNotGivenTheBlock) {
  const json list = watchOf({watch(10), stepAt(20, 3), launch(30, true), given(31, 0x9000), changed(40, 2)});
  ASSERT_EQ(list.size(), 1u);
  const json &change = list[0];
  EXPECT_EQ(change["name"], "weights");
  EXPECT_EQ(change["operator"], "relu");
  EXPECT_EQ(change["offset"], 128);
  EXPECT_EQ(change["bytes"], 16);
  EXPECT_EQ(change["step"], 3);
  EXPECT_EQ(change["given"], "no");
  EXPECT_EQ(change["since_start_ns"], 40);
  const json finding = findingOf(whole, "trampled");
  EXPECT_EQ(finding["confidence"], "likely");
  EXPECT_EQ(finding["evidence"]["block"], "weights");
  EXPECT_EQ(finding["evidence"]["block_bytes"], kBytes);
  EXPECT_EQ(finding["site"], change["site"]);
  EXPECT_EQ(whole["findings"][0]["kind"], "trampled");
}

// 0x8000 is the handle of a part of the watched OpenCL buffer. So an operation that gets this handle may change the
// buffer.
TEST_F(WatchTest, WhoIsGivenAPartOfItMayChangeIt) {
  EXPECT_TRUE(watchOf({shows(5, 0x8000), watch(10), launch(30, true), given(31, 0x8000), changed(40, 2),
                       copy(50, 0x8000, 16), changed(60, 2)})
                  .empty());
}

TEST_F(WatchTest, ABufferWithAHandleThatWasAPartsIsAnotherOne) {
  const json list =
      watchOf({shows(5, 0x8000), watch(10), test::alloc(kStart + 20, 0x8000, 64, {.heap = abi::Heap::Device}),
               launch(30, true), given(31, 0x8000), changed(40, 2)});
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["given"], "no");
}

// A cl_mem is the address of the driver's own data about a buffer. The handle of another buffer may be close to it, but
// is no address in the watched buffer.
TEST_F(WatchTest, AHandleThatLiesNearIsAnotherBuffer) {
  constexpr test::Where kHandle{.heap = abi::Heap::Device, .flags = abi::kDriver};
  constexpr uint64_t kBefore = kBlock - 64, kBehind = kBlock + 64;
  const json list =
      watchOf({test::alloc(kStart + 1, kBefore, kBytes, kHandle), test::alloc(kStart + 2, kBlock, kBytes, kHandle),
               test::alloc(kStart + 3, kBehind, kBytes, kHandle), watch(10), launch(30, true), given(31, kBehind),
               changed(40, 2), copy(50, kBefore, kBytes), changed(60, 2), copy(70, kBlock, 16), changed(80, 2),
               launch(90, true), given(91, kBlock), changed(100, 2)});
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["since_start_ns"], 40);
  EXPECT_EQ(list[0]["given"], "no");
  EXPECT_EQ(list[1]["since_start_ns"], 60);
}

TEST_F(WatchTest, WhoIsGivenItMayChangeIt) {
  EXPECT_TRUE(watchOf({watch(10), launch(30, true), given(31, kBlock), changed(40, 2), copy(50, kBlock + 128, 16),
                       changed(60, 2), given(70, kBlock, abi::kWrite), changed(80, 2)})
                  .empty());
  EXPECT_EQ(rowsOfBlocks(), json::parse(R"x([["weights", 4096, 3, 0, "pid 4711 (net)", 0, 0, 0]])x"));
}

TEST_F(WatchTest, AChangeHasItsDigestAndFile) {
  const json list = watchOf({watch(10), content(20, 0x12, 1), launch(30, true), content(40, 0xabc, 2), changed(40, 2),
                             launch(50, true), content(60, 0xdef, abi::kRefusedFile), changed(60, 2)});
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["digest"], "xxh3_64:abc");
  EXPECT_EQ(list[0]["file"], "watch/2.safetensors");
  EXPECT_EQ(list[1]["digest"], "xxh3_64:def");
  EXPECT_EQ(list[1]["file"], json());
  EXPECT_EQ(rowsOfBlocks(), json::parse(R"x([["weights", 4096, 2, 2, "pid 4711 (net)", 3, 2, 1]])x"));
}

TEST_F(WatchTest, WhoMayBeGivenItIsAHint) {
  const json list = watchOf({watch(10), launch(30, false), changed(40, 2), copy(50, kBlock + kBytes, 16),
                             changed(60, 0), launch(70, true), given(71, 0), given(72, 0x9000), changed(80, 2)});
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0]["given"], "unknown");
  EXPECT_EQ(list[1]["given"], "no"); // the event of a copy names its destination, which is another block
  EXPECT_EQ(list[1]["operator"], json());
  EXPECT_EQ(list[2]["given"], "unknown"); // one argument cannot be read
  EXPECT_EQ(findingOf(whole, "trampled")["confidence"], "hint");
}

TEST_F(WatchTest, WhoOnlyReadsItMayNotChangeIt) {
  const json list = watchOf({watch(10), launch(30, true), given(31, kBlock, abi::kRead), changed(40, 2)});
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["given"], "no");
}

// The kernel's module describes all uses of its launches. So each launch uses only the blocks in the events that follow
// it.
TEST_F(WatchTest, WhatIsToldBehindALaunchIsAllThatItWasGiven) {
  const json list = watchOf({watch(10), launch(20, false), given(21, 0x9000, abi::kListed | abi::kWrite),
                             given(22, 0, abi::kListed), changed(30, 2), launch(40, false),
                             given(41, kBlock, abi::kListed | abi::kRead), given(42, 0, abi::kListed), changed(50, 2),
                             launch(60, false), given(61, kBlock, abi::kListed | abi::kWrite),
                             given(62, 0, abi::kListed), changed(70, 2), launch(80, false), changed(90, 2)});
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0]["given"], "no");
  EXPECT_EQ(list[1]["given"], "no") << "it is only to be read";
  EXPECT_EQ(list[2]["given"], "unknown") << "of this launch nothing was told";
}

TEST_F(WatchTest, WhatAnOperatorIsGivenItsLaunchesMayChange) {
  EXPECT_TRUE(watchOf({watch(10), begins(20), given(21, kBlock, abi::kWrite), launch(30, true), changed(40, 2),
                       launch(50, true), changed(60, 2), ends(70)})
                  .empty());
}

TEST_F(WatchTest, WhatAnOperatorReadsOrAnotherOneIsGivenTheyMayNot) {
  const json list =
      watchOf({watch(10), begins(20), given(21, kBlock, abi::kRead), launch(30, true), changed(40, 2), ends(50),
               begins(60), given(61, kBlock, abi::kWrite), begins(70), launch(80, true), changed(90, 2), ends(100),
               begins(110, 7), launch(120, true), changed(130, 2), ends(140), launch(150, true), changed(160, 2)});
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0]["since_start_ns"], 40);
  EXPECT_EQ(list[1]["since_start_ns"], 90) << "the inner operator has told nothing";
  EXPECT_EQ(list[2]["since_start_ns"], 160) << "the range that ends by a number was none to look at";
}

TEST_F(WatchTest, ItsOwnerFillsABlockThatIsWatchedFromItsBirthOn) {
  const json list =
      watchOf({begins(1), ends(2), watch(10, kBytes, true), changed(20, 0), stepAt(25, 1), changed(30, 0), begins(40),
               changed(50, 2), ends(60), changed(70, 0), watch(80, 0), watch(90), changed(100, 0)});
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0]["since_start_ns"], 50) << "an operation has begun";
  EXPECT_EQ(list[1]["since_start_ns"], 70);
  EXPECT_EQ(list[2]["since_start_ns"], 100) << "the program has said that it watches it";
  EXPECT_EQ(rowsOfBlocks(), json::parse(R"x([["weights", 4096, 5, 3, "pid 4711 (net)", 0, 0, 0]])x"));
}

TEST_F(WatchTest, WhatIsNotWatchedDoesNotChange) {
  EXPECT_TRUE(watchOf({changed(5, 2), watch(10), watch(20, 0), changed(30, 2)}).empty());
}

} // namespace msleaks::analysis
