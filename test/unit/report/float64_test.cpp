// Tests the finding about PyTorch's tensors in float64.
#include "report_fixture.h"

#include "msleaks/abi/torch_float64.h"

#include <map>
#include <utility>

namespace msleaks::analysis {
namespace {

class Float64 : public ReportTest {
protected:
  void SetUp() override {
    ReportTest::SetUp();
    start(1, 4711);
    const std::string labels =
        record(abi::DefinitionKind::String, raw(abi::StringDefinition{kLabel, 0}) + abi::kTorchFloat64Label) +
        record(abi::DefinitionKind::String, raw(abi::StringDefinition{kOther, 0}) + "pytorch@node");
    ASSERT_TRUE(writer->definitions(1, std::as_bytes(std::span(labels))));
  }
  void announce(uint64_t bytes, const Where &where, uint64_t label = kLabel) {
    list.push_back(test::make<abi::CounterEvent>(now(), where, label, bytes));
  }
  void alloc(uint64_t address, uint64_t bytes, const Where &where) {
    list.push_back(test::alloc(now(), address, bytes, where));
    alive_[address] = where;
  }
  void free(uint64_t address) {
    list.push_back(test::free(now(), address, alive_.at(address)));
    alive_.erase(address);
  }
  // Returns the block's address.
  uint64_t other(uint64_t bytes, const Where &where) {
    alloc(next_address_, bytes, where);
    return std::exchange(next_address_, next_address_ + (kMiB << 10));
  }
  uint64_t tensor(uint64_t bytes, const Where &where) {
    announce(bytes, where);
    return other(bytes, where);
  }
  uint64_t now() { return kStart + 10 * ++events_made_; }
  // The finding of a run that frees all its blocks at the end: they are no leaks.
  json finding() {
    while (!alive_.empty())
      free(alive_.begin()->first);
    events(list);
    end(1, 0, kStart + kMs);
    manifest();
    close();
    return findingOf(asJson(), "float64");
  }

  static constexpr uint64_t kLabel = 1, kOther = 2;
  std::vector<StreamEvent> list;

private:
  uint64_t next_address_ = kMiB << 10;
  std::map<uint64_t, Where> alive_; // by address
  uint64_t events_made_ = 0;
};

TEST_F(Float64, SavesHalfOfAllPlacesAndNamesTheFirst) {
  other(60 * kMiB, kOne);
  tensor(10 * kMiB, kTwo);
  tensor(20 * kMiB, kOne);
  tensor(10 * kMiB, kOne);
  const json found = finding();
  ASSERT_FALSE(found.is_null());
  EXPECT_EQ(found["bytes"], 40 * kMiB);
  EXPECT_EQ(found["count"], 3);
  EXPECT_EQ(found["saves_bytes"], 20 * kMiB);
  EXPECT_EQ(found["site"]["line"], 3);
  EXPECT_EQ(found["confidence"], "hint"); // no parameters are known
  EXPECT_EQ(found["evidence"]["place_bytes"], 10 * kMiB);
  EXPECT_EQ(found["evidence"]["places"], json({"30.0 MiB of src/net.cpp:12", "10.0 MiB of src/net.cpp:3"}));
}

TEST_F(Float64, IsNoneWithoutSuchTensors) {
  announce(10 * kMiB, kOne, kOther);
  other(10 * kMiB, kOne);
  EXPECT_TRUE(finding().is_null());
}

TEST_F(Float64, IsNoneIfThePeakHasLittleOfIt) {
  other(92 * kMiB, kOne);
  tensor(8 * kMiB, kTwo);
  EXPECT_TRUE(finding().is_null());
}

// The first place made too little to be the cause.
TEST_F(Float64, IsNotOfATinyTensor) {
  tensor(4096, kOne);
  tensor(10 * kMiB, kTwo);
  EXPECT_EQ(finding()["site"]["line"], 3);
}

// The data are freed before the peak, but operators have made other tensors of them.
TEST_F(Float64, NamesAPlaceWithoutBlocksAtThePeak) {
  free(tensor(10 * kMiB, kTwo));
  tensor(20 * kMiB, kOne);
  const json found = finding();
  ASSERT_FALSE(found.is_null());
  EXPECT_EQ(found["site"]["line"], 3);
  EXPECT_EQ(found["bytes"], 20 * kMiB);
  EXPECT_EQ(found["count"], 1);
  EXPECT_EQ(found["saves_bytes"], 10 * kMiB);
  EXPECT_EQ(found["evidence"]["place_bytes"], 0);
}

TEST_F(Float64, AnnouncementHoldsForTheNextLargeBlockOfItsThread) {
  const Where elsewhere{.stream = 1, .site = 1};
  announce(10 * kMiB, kOne);
  other(10 * kMiB, elsewhere); // another thread
  other(4095, kOne);           // too small
  other(10 * kMiB, kTwo);      // this one
  other(10 * kMiB, kTwo);      // not announced
  announce(10 * kMiB, kOne);
  other(11 * kMiB, kOne); // so the announced tensor got no memory
  other(10 * kMiB, kOne);
  const json found = finding();
  ASSERT_FALSE(found.is_null());
  EXPECT_EQ(found["bytes"], 10 * kMiB);
  EXPECT_EQ(found["site"]["line"], 3);
}

TEST_F(Float64, PartOfAPoolMayBeLarger) {
  other(100 * kMiB, {.heap = abi::Heap::Device, .site = 1});
  announce(10 * kMiB - 8, kPart);
  alloc(kMiB, 10 * kMiB, kPart);
  announce(10 * kMiB - 8, kPart);
  alloc(20 * kMiB, 12 * kMiB, kPart); // another tensor's
  const json found = finding();
  ASSERT_FALSE(found.is_null());
  EXPECT_EQ(found["heap"], "pool");
  EXPECT_EQ(found["bytes"], 10 * kMiB);
  EXPECT_EQ(found["saves_bytes"], 5 * kMiB);
}

// A wrapper around the allocator returned the block, so the block belongs to the line that called the wrapper.
TEST_F(Float64, BlockMayGetAnotherPlace) {
  const uint64_t address = tensor(10 * kMiB, kOne);
  list.push_back(test::retarget(now(), address, kTwo));
  const json found = finding();
  ASSERT_FALSE(found.is_null());
  EXPECT_EQ(found["site"]["line"], 3);
  EXPECT_EQ(found["bytes"], 10 * kMiB);
  EXPECT_EQ(found["evidence"]["places"], json({"10.0 MiB of src/net.cpp:3"}));
}

} // namespace
} // namespace msleaks::analysis
