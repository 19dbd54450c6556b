// Tests the findings about host blocks that stay alive after they were copied to a device.
#include "report_fixture.h"

namespace msleaks::analysis {
namespace {

using abi::Heap;

constexpr uint64_t kCopied = 1'000'000;
constexpr Where kHost{.site = 1}, kTwoOnDevice{.heap = Heap::Device, .site = 2};

class Copies : public ReportTest {
protected:
  StreamEvent onHost(uint64_t at, uint64_t address, uint64_t size = kCopied) {
    return test::alloc(kStart + at, address << 24, size, kHost);
  }
  StreamEvent onDevice(uint64_t at, uint64_t address, uint64_t size = kCopied) {
    return test::alloc(kStart + at, address << 24, size, kTwoOnDevice);
  }
  StreamEvent copied(uint64_t at, uint64_t to, uint64_t from, uint64_t size = kCopied) {
    return test::copy(kStart + at, to << 24, from << 24, kTwoOnDevice, size);
  }
  StreamEvent hostDies(uint64_t at, uint64_t address) { return test::free(kStart + at, address << 24, kHost); }
  StreamEvent deviceDies(uint64_t at, uint64_t address) { return test::free(kStart + at, address << 24, kTwoOnDevice); }

  json finding(const std::vector<StreamEvent> &list) { return findingOf(reportOf(list), "copy"); }
};

TEST_F(Copies, WhatWasUploadedLivesOnBesideItsCopy) {
  const json copy = finding({onHost(10, 1), onDevice(20, 2), copied(30, 2, 1), onHost(40, 3), hostDies(80, 3),
                             hostDies(90, 1), deviceDies(95, 2)});
  ASSERT_FALSE(copy.is_null());
  EXPECT_EQ(copy["site"]["line"], 12);
  EXPECT_EQ(copy["heap"], "host");
  EXPECT_EQ(copy["confidence"], "hint");
  EXPECT_EQ(copy["bytes"], kCopied);
  EXPECT_EQ(copy["saves_bytes"], kCopied);
  EXPECT_EQ(copy["evidence"]["idle_ns"], 90 - 30);
  EXPECT_FALSE(copy["evidence"]["copied_at"].get<std::string>().empty());
  EXPECT_FALSE(copy["evidence"]["copied_to"].get<std::string>().empty());
}

TEST_F(Copies, WhatIsFreedBehindTheCopyIsNone) {
  EXPECT_TRUE(finding({onHost(10, 1), onDevice(20, 2), copied(30, 2, 1), hostDies(31, 1), onHost(40, 3),
                       hostDies(80, 3), deviceDies(95, 2)})
                  .is_null());
}

TEST_F(Copies, AStagingBufferCountsFromItsLastCopyOn) {
  EXPECT_TRUE(finding({onHost(10, 1), onDevice(20, 2), copied(30, 2, 1), onHost(40, 3), hostDies(80, 3),
                       copied(85, 2, 1), hostDies(90, 1), deviceDies(95, 2)})
                  .is_null());
}

TEST_F(Copies, WithoutTheCopyItIsTheOnlyOne) {
  EXPECT_TRUE(finding({onHost(10, 1), onDevice(20, 2), copied(30, 2, 1), deviceDies(35, 2), onHost(40, 3),
                       hostDies(80, 3), hostDies(90, 1)})
                  .is_null());
}

TEST_F(Copies, AnotherOneInItsPlaceEndsTheCopy) {
  EXPECT_TRUE(
      finding({onHost(10, 1), onHost(11, 4), onDevice(20, 2), copied(30, 2, 1), copied(35, 2, 4), hostDies(36, 4),
               onHost(40, 3, 3 * kCopied), hostDies(80, 3), hostDies(90, 1), deviceDies(95, 2)})
          .is_null());
}

TEST_F(Copies, APartIsNoCopy) {
  EXPECT_TRUE(finding({onHost(10, 1), onDevice(20, 2), copied(30, 2, 1, kCopied / 2), onHost(40, 3), hostDies(80, 3),
                       hostDies(90, 1), deviceDies(95, 2)})
                  .is_null());
}

} // namespace
} // namespace msleaks::analysis
