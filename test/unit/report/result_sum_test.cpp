// Tests sums and differences of results.
#include "report_fixture.h"

#include "analysis/result/sum.h"

#include <random>

namespace msleaks::analysis {
namespace {

std::string textOf(const Report &report) {
  std::ostringstream out;
  writeReportJson(out, report);
  return out.str();
}

// Returns a report with places, leaks, types and a ledger of random sizes. Two such reports share some places.
Report randomReport(std::mt19937 &random) {
  Report report;
  report.command = {"./net"};
  report.events.produced = random() % 1000;
  const auto size = [&] { return uint64_t{1} + random() % 1'000'000; };
  for (uint32_t number = 1; number <= 20; ++number) {
    if (random() % 3 == 0)
      continue;
    SiteLine line;
    line.site.file = "net.cpp";
    line.site.line = number;
    line.site.function = "grow";
    line.bytes = size();
    line.count = 1 + random() % 9;
    line.paths = {{.bytes = line.bytes, .count = line.count, .calls = {std::make_shared<const SiteText>(line.site)}}};
    report.peak.bytes += line.bytes;
    report.peak.by_site.push_back(line);
    LeakLine leak;
    static_cast<SiteLine &>(leak) = line;
    leak.remains = {
        .bytes = line.bytes, .count = line.count, .largest_bytes = size(), .oldest_age_ns = size(), .newest_age_ns = 1};
    report.leaks.by_site.push_back(leak);
    report.leaks.sum += {line.bytes, line.count};
    report.peak.by_type.push_back({"type" + std::to_string(number), size(), 1});
  }
  report.ledger = {{{}, LedgerSource::Driver, static_cast<int64_t>(size()), -5}};
  return report;
}

} // namespace

TEST(ResultSum, ADifferenceAndWhatWasSubtractedIsTheFirst) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    const Report a = randomReport(random), b = randomReport(random);
    ASSERT_EQ(textOf(restored(difference(a, b), b)), textOf(a)) << "seed " << seed;
  }
}

TEST(ResultSum, ADifferenceShowsWhatCameAndWhatLeft) {
  std::mt19937 random(1);
  Report a = randomReport(random), b = a;
  a.peak.by_site.resize(2);
  b.peak.by_site.erase(b.peak.by_site.begin());
  const Report left = difference(a, b);
  EXPECT_EQ(left.peak.by_site.at(0).bytes, a.peak.by_site[0].bytes) << "only in a";
  EXPECT_EQ(left.peak.by_site.at(1).bytes, 0u) << "in both";
  EXPECT_EQ(static_cast<int64_t>(left.peak.by_site.at(2).bytes), -static_cast<int64_t>(b.peak.by_site[1].bytes));
}

TEST(ResultSum, OfTwoRanksAddsTheirPlaces) {
  std::mt19937 random(2);
  const Report rank = randomReport(random);
  Report both = rank;
  add(both, rank);
  EXPECT_EQ(both.peak.bytes, 2 * rank.peak.bytes);
  ASSERT_EQ(both.peak.by_site.size(), rank.peak.by_site.size());
  EXPECT_EQ(both.peak.by_site[0].bytes, 2 * rank.peak.by_site[0].bytes);
  EXPECT_EQ(both.peak.by_site[0].paths[0].bytes, 2 * rank.peak.by_site[0].bytes);
  EXPECT_EQ(both.leaks.by_site[0].remains.bytes, 2 * rank.leaks.by_site[0].bytes);
  EXPECT_EQ(both.leaks.by_site[0].remains.largest_bytes, rank.leaks.by_site[0].remains.largest_bytes);
  EXPECT_EQ(both.ledger.at(0).bytes, 2 * rank.ledger[0].bytes);
}

TEST(ResultSum, KeepsTheProcessesOfEachRank) {
  Report rank;
  rank.processes = {{.process = 1, .pid = 7}, {.process = 2, .pid = 8}};
  rank.peak.by_process = {{.process = 2, .bytes = 64}};
  Report both = rank;
  add(both, rank);
  ASSERT_EQ(both.processes.size(), 4u);
  EXPECT_EQ(both.processes[3].process, 4u);
  ASSERT_EQ(both.peak.by_process.size(), 2u);
  EXPECT_EQ(both.peak.by_process[1].process, 4u);
}

// A difference may wrap around. After the subtracted number is added again, the result must still be exact.
TEST(ResultSum, AtTheEdgesOfItsNumbersIsExact) {
  Report a, b;
  a.peak.bytes = 1;
  b.peak.bytes = UINT64_MAX;
  a.ledger = {{{}, LedgerSource::Driver, INT64_MIN, 0}};
  b.ledger = {{{}, LedgerSource::Driver, INT64_MAX, 0}};
  EXPECT_EQ(restored(difference(a, b), b).peak.bytes, 1u);
  EXPECT_EQ(restored(difference(a, b), b).ledger.at(0).bytes, INT64_MIN);
}

} // namespace msleaks::analysis
