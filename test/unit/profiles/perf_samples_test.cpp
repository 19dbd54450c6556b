#include "perf_fixture.h"

#include "analysis/counts/address_space.h"

namespace msleaks::analysis::profiles {
namespace {

constexpr uint32_t kPid = 7, kChild = 8;

void expectRefusal(const Result<PerfSamples> &result, const std::string &what) {
  ASSERT_FALSE(result) << "not refused: " << what;
  EXPECT_EQ(result.error().status, ExitStatus::BadInput);
  EXPECT_NE(result.error().message.find(what), std::string::npos) << result.error().message;
  EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
}

} // namespace

TEST_F(PerfFixture, PeriodsAreSummedByPlaceInTheFile) {
  event(kFields, 1);
  map(kPid, 0x55'0000, 0x1000, 0x2000, "/bin/a", 10);
  sample(kPid, 0x55'0010, 20, 3);
  sample(kPid, 0x55'0010, 21, 4);
  sample(kPid, 0x55'1010, 22, 5); // after the end of the mapping
  const auto samples = samplesOf(file());
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->totals, std::vector<uint64_t>{12});
  EXPECT_EQ(at(*samples, "/bin/a", 0x2010), 7u);
  EXPECT_EQ(at(*samples, "", 0x55'1010), 5u) << "nothing was mapped there";
}

// perf has one buffer for each processor, and writes the buffers one after another. So the last sample in the file need
// not be the latest one. The reader must sort the records by time.
TEST_F(PerfFixture, RecordsAreTakenInOrderOfTime) {
  event(kFields, 1);
  map(kPid, 0x1000, 0x1000, 0, "/bin/old", 10);
  sample(kPid, 0x1004, 40, 1);
  sample(kPid, 0x1004, 20, 2);
  round();
  map(kPid, 0x1000, 0x1000, 0, "/bin/new", 30);
  round();
  sample(kPid, 0x1004, 50, 4);
  const auto samples = samplesOf(file());
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(at(*samples, "/bin/old", 4), 2u);
  EXPECT_EQ(at(*samples, "/bin/new", 4), 5u);
}

TEST_F(PerfFixture, AChildHasItsParentsImagesUntilItExecutes) {
  event(kFields, 1);
  map(kPid, 0x1000, 0x1000, 0, "/bin/parent", 10);
  fork(kChild, kPid, 20);
  sample(kChild, 0x1004, 21, 1);
  exec(kChild, 30);
  sample(kChild, 0x1004, 31, 2);
  map(kChild, 0x1000, 0x1000, 0, "/bin/child", 40);
  sample(kChild, 0x1004, 41, 4);
  sample(kPid, 0x1004, 42, 8);
  const auto samples = samplesOf(file());
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(at(*samples, "/bin/parent", 4), 9u);
  EXPECT_EQ(at(*samples, "", 0x1004), 2u);
  EXPECT_EQ(at(*samples, "/bin/child", 4), 4u);
}

TEST_F(PerfFixture, TheKernelIsItsOwnProcess) {
  event(kFields, 1);
  map(UINT32_MAX, 0xffff'0000, 0x1000, 0xffff'0000, "[kernel.kallsyms]_text", 0);
  sample(kPid, 0xffff'0010, 20, 3, 1);
  sample(kPid, 0xffff'0010, 20, 5, 2);
  const auto samples = samplesOf(file());
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(at(*samples, "[kernel.kallsyms]_text", 0xffff'0010), 3u);
  EXPECT_EQ(at(*samples, "", 0xffff'0010), 5u);
}

TEST_F(PerfFixture, WhatIsNoCodeIsNotMapped) {
  event(kFields, 1);
  map(kPid, 0x1000, 0x1000, 0, "/lib/data", 10, 1);
  sample(kPid, 0x1004, 20, 3);
  const auto samples = samplesOf(file());
  ASSERT_TRUE(samples);
  EXPECT_EQ(at(*samples, "/lib/data", 4), 0u);
}

TEST_F(PerfFixture, EventsAreToldApartByTheirIdentifier) {
  constexpr uint64_t kBoth = kFields | kPerfIdentifier;
  event(kBoth, 100);
  event(kBoth | kPerfCpu, 200);
  map(kPid, 0x1000, 0x1000, 0, "/bin/a", 10);
  const auto one = [](uint64_t id, uint64_t period, bool cpu) {
    PerfBytes body;
    body.u64(id).u64(0x1004).u32(kPid).u32(kPid).u64(20);
    if (cpu)
      body.u64(1);
    return body.u64(period).text();
  };
  record(9, 2, one(100, 3, false));
  record(9, 2, one(200, 5, true));
  record(9, 2, one(300, 7, false));
  const auto samples = samplesOf(file());
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->totals, (std::vector<uint64_t>{3, 5}));
  EXPECT_EQ(at(*samples, "/bin/a", 4, 0), 3u);
  EXPECT_EQ(at(*samples, "/bin/a", 4, 1), 5u);
  EXPECT_EQ(samples->unknown_events, 1u);
}

TEST_F(PerfFixture, SamplesWithoutAPeriodCountTheEventsOne) {
  event(kPerfIp | kPerfTid | kPerfTime, 1, kIdsEverywhere, 1000);
  map(kPid, 0x1000, 0x1000, 0, "/bin/a", 10);
  record(9, 2, PerfBytes().u64(0x1004).u32(kPid).u32(kPid).u64(20).text());
  const auto samples = samplesOf(file());
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(at(*samples, "/bin/a", 4), 1000u);
}

TEST_F(PerfFixture, WhatPerfLostIsCounted) {
  event(kFields, 1);
  record(2, 0, PerfBytes().u64(1).u64(12).raw(tail(5)).text());
  record(13, 0, PerfBytes().u64(30).raw(tail(6)).text());
  const auto samples = samplesOf(file());
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->lost, 42u);
}

// The data of a hardware trace follows its record. This data is not a record, so the reader must skip it.
TEST_F(PerfFixture, AHardwareTraceIsSteppedOver) {
  event(kFields, 1);
  map(kPid, 0x1000, 0x1000, 0, "/bin/a", 10);
  for (const size_t size : {size_t{24}, size_t{3} << 20}) {
    record(71, 0, PerfBytes().u64(size).raw(std::string(32, '\0')).text());
    records_.raw(std::string(size, '\x01'));
    sample(kPid, 0x1004, 20, 3);
  }
  const auto samples = samplesOf(file());
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(at(*samples, "/bin/a", 4), 6u);
}

TEST_F(PerfFixture, MoreThanAWindowOfRecords) {
  event(kFields, 1);
  map(kPid, 0x1000, 0x1000, 0, "/bin/a", 10);
  for (uint64_t i = 0; i < 100'000; ++i)
    sample(kPid, 0x1000 + i % 16, 20 + i, 1);
  const auto samples = samplesOf(file());
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->samples, 100'000u);
  EXPECT_EQ(at(*samples, "/bin/a", 5), 6250u);
}

// perf compresses the records as one stream. So a record may continue in the next compressed piece. The reader must
// join the pieces.
TEST_F(PerfFixture, CompressedRecordsAreUnpacked) {
  event(kFields, 1);
  map(kPid, 0x1000, 0x1000, 0, "/bin/a", 10);
  for (const bool is_aligned : {false, true})
    packed(
        [&] {
          for (uint64_t i = 0; i < 50'000; ++i)
            sample(kPid, 0x1000 + i % 16, 20 + i, 1);
        },
        is_aligned ? 40'000 : 777, is_aligned);
  round();
  sample(kPid, 0x1004, 60'000, 3);
  const auto samples = samplesOf(file());
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->samples, 100'001u);
  EXPECT_EQ(at(*samples, "/bin/a", 5), 6250u);
  EXPECT_EQ(at(*samples, "/bin/a", 4), 6253u);
}

TEST_F(PerfFixture, ManyRecordsOfFewBytesAreRefused) {
  event(kFields, 1);
  packed(
      [&] {
        for (int i = 0; i < 1'500'000; ++i)
          round();
      },
      60'000);
  expectRefusal(samplesOf(file()), "record without -z");
}

TEST_F(PerfFixture, APipeHasItsEventsAmongTheRecords) {
  event(kFields, 1);
  map(kPid, 0x1000, 0x1000, 0, "/bin/a", 10);
  // The formats of tracepoints follow this record. These formats are not records, so the reader must skip them.
  record(66, 0, PerfBytes().u32(13).u32(0).text());
  records_.raw(std::string(16, '\x01'));
  sample(kPid, 0x1004, 20, 3);
  packed([&] { sample(kPid, 0x1004, 21, 4); }, 10);
  const std::string whole = pipe("cycles:u");
  const auto samples = samplesOf(whole);
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(at(*samples, "/bin/a", 4), 7u);
  const auto input = InputFile::open(store(whole));
  ASSERT_TRUE(input);
  const auto perf = PerfFile::open(*input);
  ASSERT_TRUE(perf);
  ASSERT_EQ(perf->events.size(), 1u);
  EXPECT_EQ(perf->events[0].name, "cycles:u");
  EXPECT_EQ(perf->event_of_id.at(1), 0u);
  expectRefusal(samplesOf(whole.substr(0, whole.size() - 1)), "cut short");
  expectRefusal(samplesOf(whole.substr(0, 16)), "has no events");
}

TEST_F(PerfFixture, FilesThatAreNotReadSayWhy) {
  event(kFields, 1);
  sample(kPid, 0x1004, 20, 3);
  const std::string whole = file();
  ASSERT_TRUE(samplesOf(whole));
  expectRefusal(samplesOf("PERFFILE" + whole.substr(8)), "no perf.data");
  expectRefusal(samplesOf("2ELIFREP" + whole.substr(8)), "other byte order");
  expectRefusal(samplesOf(whole.substr(0, 48) + std::string(8, '\0') + whole.substr(56)), "not ended properly");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(samplesOf(whole.substr(0, size))) << size;
  record(81, 0, std::string(32, 'z'));
  expectRefusal(samplesOf(file()), "compressed record at byte 296 is damaged");
}

TEST_F(PerfFixture, ADamagedRecordIsNamed) {
  event(kFields, 1);
  records_.add<uint32_t>(9).add<uint16_t>(2).add<uint16_t>(4);
  expectRefusal(samplesOf(file()), "record at byte 256 is damaged");
}

TEST_F(PerfFixture, ASampleThatIsTooShortIsDamage) {
  event(kFields, 1);
  record(9, 2, PerfBytes().u64(0x1004).text());
  expectRefusal(samplesOf(file()), "is damaged");
}

TEST_F(PerfFixture, EventsWithoutAddressesAreRefused) {
  event(kPerfTid | kPerfTime, 1);
  sample(kPid, 0, 1, 1);
  expectRefusal(samplesOf(file()), "no address of code");
}

TEST(AddressSpace, WhatIsMappedOverIsGone) {
  AddressSpace space;
  space.map({0x1000, 0x5000, 0, 1});
  space.map({0x2000, 0x3000, 0x100, 2});
  EXPECT_EQ(space.at(0x1fff)->image, 1u);
  EXPECT_EQ(space.at(0x2000)->image, 2u);
  ASSERT_EQ(space.at(0x3000)->image, 1u);
  EXPECT_EQ(space.at(0x3000)->offset, 0x2000u);
  space.map({0x0, 0x4000, 0, 3});
  EXPECT_EQ(space.at(0x2fff)->image, 3u);
  EXPECT_EQ(space.at(0x4000)->offset, 0x3000u);
  EXPECT_EQ(space.at(0x5000), nullptr);
  space.map({0x10, 0x10, 0, 4});
  EXPECT_EQ(space.at(0x10)->image, 3u);
}

TEST(PlaceSums, NumbersPlacesInTheirOrder) {
  PlaceSums sums(2);
  std::vector<uint64_t> places;
  for (uint64_t i = 0; i < 10'000; ++i)
    places.push_back(i % 3 == 0 ? i << 40 : i % 3 == 1 ? i * 64 : ~i);
  for (uint64_t time = 0; time < 3; ++time)
    for (uint64_t i = 0; i < places.size(); ++i)
      sums.add(places[i], time % 2, i + time);
  ASSERT_EQ(sums.size(), places.size());
  for (uint64_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(sums.placeOf(i), places[i]);
    EXPECT_EQ(sums.sumOf(i, 0), 2 * i + 2);
    EXPECT_EQ(sums.sumOf(i, 1), i + 1);
  }
}

} // namespace msleaks::analysis::profiles
