// Tests the findings about host blocks that are alive beside the block from which they were copied.
#include "report_fixture.h"

namespace msleaks::analysis {
namespace {

constexpr uint64_t kOfCopy = 1'000'000;

class HostCopies : public ReportTest {
protected:
  StreamEvent source(uint64_t at, uint64_t address, uint64_t size = kOfCopy) {
    return test::alloc(kStart + at, address << 24, size, kOne);
  }
  StreamEvent other(uint64_t at, uint64_t address, uint64_t size = kOfCopy) {
    return test::alloc(kStart + at, address << 24, size, kTwo);
  }
  StreamEvent copied(uint64_t at, uint64_t to, uint64_t from, uint64_t size = kOfCopy, uint64_t offset = 0) {
    return test::copy(kStart + at, (to << 24) + offset, (from << 24) + offset, {.heap = abi::Heap::Host, .site = 2},
                      size);
  }
  StreamEvent dies(uint64_t at, uint64_t address) { return test::free(kStart + at, address << 24); }

  json finding(const std::vector<StreamEvent> &list) { return findingOf(reportOf(list), "copy"); }
};

TEST_F(HostCopies, ACopyBesideItsSourceNamesBoth) {
  const json copy = finding({source(10, 1), other(20, 2), copied(30, 2, 1), dies(80, 1), dies(90, 2)});
  ASSERT_FALSE(copy.is_null());
  EXPECT_EQ(copy["site"]["line"], 3);
  EXPECT_EQ(copy["heap"], "host");
  EXPECT_EQ(copy["confidence"], "hint");
  EXPECT_EQ(copy["bytes"], kOfCopy);
  EXPECT_EQ(copy["count"], 1);
  EXPECT_EQ(copy["saves_bytes"], kOfCopy);
  EXPECT_EQ(copy["evidence"]["idle_ns"], 80 - 20);
  EXPECT_NE(copy["evidence"]["copied_at"].get<std::string>().find(":3"), std::string::npos);
  EXPECT_NE(copy["evidence"]["copied_from"].get<std::string>().find(":12"), std::string::npos);
  EXPECT_FALSE(copy["evidence"].contains("copied_to"));
}

TEST_F(HostCopies, WithoutTheSourceItIsTheOnlyOne) {
  EXPECT_TRUE(
      finding({source(10, 1), other(20, 2, kOfCopy / 20), copied(30, 2, 1, kOfCopy / 20), dies(80, 1), dies(90, 2)})
          .is_null());
}

TEST_F(HostCopies, PiecesAddUp) {
  EXPECT_FALSE(finding({source(10, 1), other(20, 2), copied(30, 2, 1, kOfCopy / 2),
                        copied(31, 2, 1, kOfCopy / 2 - 8, kOfCopy / 2), dies(80, 1), dies(90, 2)})
                   .is_null());
}

TEST_F(HostCopies, HalfOfBothBlocksIsNoCopy) {
  EXPECT_TRUE(
      finding({source(10, 1), other(20, 2), copied(30, 2, 1, kOfCopy / 2), dies(80, 1), dies(90, 2)}).is_null());
}

// The source is twice as large as the copied part, as a container with unused capacity may be.
TEST_F(HostCopies, ACopyOfHalfABlockIsOne) {
  const json copy = finding({source(10, 1, 2 * kOfCopy), other(20, 2), copied(30, 2, 1), dies(80, 1), dies(90, 2)});
  ASSERT_FALSE(copy.is_null());
  EXPECT_EQ(copy["saves_bytes"], kOfCopy);
}

TEST_F(HostCopies, ABufferThatFillsSeveralBlocksIsNone) {
  EXPECT_TRUE(finding({source(10, 1), other(20, 2), copied(30, 2, 1), other(40, 3), copied(50, 3, 1), dies(80, 1),
                       dies(90, 2), dies(91, 3)})
                  .is_null());
}

// Two threads copy the same block, each into a block of its own.
TEST_F(HostCopies, CopiesOfSeveralThreadsAddUp) {
  StreamEvent second = copied(50, 3, 1);
  second.stream = 1;
  const json copy = finding(
      {source(10, 1), other(20, 2), copied(30, 2, 1), other(40, 3), second, dies(80, 1), dies(90, 2), dies(91, 3)});
  ASSERT_FALSE(copy.is_null());
  EXPECT_EQ(copy["count"], 2);
  EXPECT_EQ(copy["saves_bytes"], 2 * kOfCopy);
}

TEST_F(HostCopies, AGrowingContainerIsNone) {
  EXPECT_TRUE(
      finding({source(10, 1), source(20, 2, 2 * kOfCopy), copied(30, 2, 1), dies(31, 1), dies(90, 2)}).is_null());
}

TEST_F(HostCopies, ABufferThatIsFilledAgainIsNone) {
  EXPECT_TRUE(
      finding({source(10, 1), other(20, 2), copied(30, 2, 1), copied(40, 2, 1), dies(80, 1), dies(90, 2)}).is_null());
}

TEST_F(HostCopies, WhatIsOverwrittenIsNoCopy) {
  EXPECT_TRUE(finding({source(10, 1), source(11, 3), other(20, 2), copied(30, 2, 1), copied(40, 1, 3, kOfCopy / 2),
                       dies(41, 3), dies(80, 1), dies(90, 2)})
                  .is_null());
}

TEST_F(HostCopies, AtTheEndOfTheProcessBothAreStillThere) {
  EXPECT_FALSE(finding({source(10, 1), other(20, 2), copied(30, 2, 1)}).is_null());
}

} // namespace
} // namespace msleaks::analysis
