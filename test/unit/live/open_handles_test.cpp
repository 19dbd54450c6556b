// Tests which handles are open after some events.
#include "analysis/live/open_handles.h"

#include "events.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

using abi::HandleKind;
using test::closed;
using test::opened;
using test::Where;

constexpr Where kRestored{.flags = abi::kRestored};
constexpr Where kOtherThread{.stream = 1};

class OpenHandlesTest : public testing::Test {
protected:
  void apply(const StreamEvent &event, uint32_t site = 0) { handles.apply(event, {site}); }
  size_t count(uint32_t process = 1) const {
    size_t found = 0;
    handles.forEachProcess(
        [&](uint32_t number, const OpenHandles::OfProcess &open) { found += number == process ? open.size() : 0; });
    return found;
  }
  OpenHandles handles;
};

} // namespace

TEST_F(OpenHandlesTest, KindsAndProcessesAreApart) {
  apply(opened(10, HandleKind::Descriptor, 5));
  apply(opened(11, HandleKind::File, 5));
  apply(opened(12, HandleKind::Descriptor, 5, {.process = 2}));
  EXPECT_EQ(count(1), 2u);
  EXPECT_EQ(count(2), 1u);
  apply(closed(13, HandleKind::Descriptor, 5));
  EXPECT_EQ(count(1), 1u);
  EXPECT_EQ(count(2), 1u);
}

TEST_F(OpenHandlesTest, AnUnknownOneIsIgnored) {
  apply(closed(10, HandleKind::Descriptor, 5));
  apply(opened(9'000'000, HandleKind::Descriptor, 5, kOtherThread));
  EXPECT_EQ(count(), 1u);
  apply(opened(9'000'001, static_cast<HandleKind>(99), 5));
  EXPECT_EQ(count(), 1u);
}

TEST_F(OpenHandlesTest, EachOwnerIsTakenAwayByOneClose) {
  apply(opened(10, HandleKind::ClKernel, 7), 3);
  apply(opened(11, HandleKind::ClKernel, 7, kRestored), 4);
  apply(closed(12, HandleKind::ClKernel, 7));
  ASSERT_EQ(count(), 1u);
  EXPECT_EQ(handles.endProcess(1).begin()->second.site, SiteId{3}) << "who made it, not who retained it";
}

TEST_F(OpenHandlesTest, ARefusedCloseBringsItBack) {
  apply(opened(10, HandleKind::Thread, 7), 3);
  apply(closed(11, HandleKind::Thread, 7));
  EXPECT_EQ(count(), 0u);
  apply(opened(12, HandleKind::Thread, 7, kRestored), 4);
  const auto left = handles.endProcess(1);
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left.begin()->second.site, SiteId{3});
  EXPECT_EQ(left.begin()->second.time_ns, 10u);
}

TEST_F(OpenHandlesTest, ARefusedCloseOfAnUnknownOneBringsNothing) {
  apply(opened(10, HandleKind::Descriptor, 7), 3);
  apply(closed(11, HandleKind::Descriptor, 7));
  apply(closed(12, HandleKind::Descriptor, 8));
  apply(opened(13, HandleKind::Descriptor, 8, kRestored));
  apply(opened(14, HandleKind::Descriptor, 7, kRestored));
  EXPECT_EQ(count(), 0u);
}

TEST_F(OpenHandlesTest, OfTheSameNumberTheLastOneCounts) {
  apply(opened(10, HandleKind::Descriptor, 7), 3);
  apply(opened(11, HandleKind::Descriptor, 7), 4); // a raw system call closed the first one
  const auto left = handles.endProcess(1);
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left.begin()->second.site, SiteId{4});
}

// A thread may detach itself before pthread_create() returns. In this case the close is recorded before the open, and
// the handle must not count as open.
TEST_F(OpenHandlesTest, AThreadMayBeDetachedBeforeItsCreatorKnows) {
  apply(closed(1'000, HandleKind::Thread, 7, kOtherThread));
  apply(opened(5'000'000, HandleKind::Thread, 7));
  EXPECT_EQ(count(), 0u);
  apply(closed(6'000'000, HandleKind::Thread, 8, kOtherThread));
  apply(opened(5'000'000'000, HandleKind::Thread, 8));
  EXPECT_EQ(count(), 1u) << "another thread, long after";
  apply(closed(6'000'000'000, HandleKind::Thread, 9));
  apply(opened(6'000'000'001, HandleKind::Thread, 9));
  EXPECT_EQ(count(), 2u) << "of one thread, order is order";
}

TEST_F(OpenHandlesTest, TimesOfTwoProcessorsMayDiffer) {
  apply(closed(1'000, HandleKind::ClEvent, 7, kOtherThread));
  apply(opened(1'020, HandleKind::ClEvent, 7));
  EXPECT_EQ(count(), 0u);
  apply(closed(5'000, HandleKind::ClEvent, 8, kOtherThread));
  apply(opened(9'000, HandleKind::ClEvent, 8));
  EXPECT_EQ(count(), 1u);
}

} // namespace msleaks::analysis
