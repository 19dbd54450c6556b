// Tests the map of the parts of a memory segment, at present and at the peak.
#include "analysis/live/part_map.h"

#include <gtest/gtest.h>
#include <random>

namespace msleaks::analysis {
namespace {

uint64_t bytesOf(const PartMap::Parts &parts) {
  uint64_t bytes = 0;
  for (const auto &[address, part] : parts)
    bytes += part.bytes;
  return bytes;
}

TEST(PartMap, HasTheLargestHoleAnywhere) {
  PartMap::Parts parts;
  EXPECT_EQ(largestHole(parts, 1000, 500), 500u);
  parts[1100] = {50, {}};
  EXPECT_EQ(largestHole(parts, 1000, 500), 350u) << "behind it";
  parts[1300] = {200, {}};
  EXPECT_EQ(largestHole(parts, 1000, 500), 150u) << "between";
  parts[1100] = {150, {}};
  EXPECT_EQ(largestHole(parts, 1000, 500), 100u) << "before";
  parts[1000] = {400, {}}; // this part contains other parts
  EXPECT_EQ(largestHole(parts, 1000, 500), 0u);
  parts = {{1400, {900, {}}}}; // the part continues after the segment's end
  EXPECT_EQ(largestHole(parts, 1000, 500), 400u);
}

TEST(PartMap, KnowsWhatWasThereAtThePeak) {
  PartMap map;
  map.add(10, {5, {1}}, 1);
  map.add(20, {6, {2}}, 1);
  map.remove(10, 2); // the second peak was before this removal
  map.add(20, {7, {3}}, 2);
  map.add(30, {8, {3}}, 2);
  EXPECT_EQ(map.usedBytes(), 15u);
  EXPECT_EQ(bytesOf(map.atPeak(2)), 11u);
  EXPECT_EQ(map.atPeak(2).at(20).cohort, CohortId{2});
  EXPECT_EQ(bytesOf(map.atPeak(3)), 15u) << "nothing has changed since the third";
}

// The test copies all parts at each peak, and compares the map with this copy after each change.
TEST(PartMap, KnowsItAfterAnyChanges) {
  std::mt19937 random(7);
  PartMap map;
  PartMap::Parts at_peak;
  uint64_t peak = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (random() % 97 == 0) {
      ++peak;
      at_peak = map.now();
    }
    const uint64_t address = random() % 64;
    if (random() % 2)
      map.add(address, {1 + random() % 9, {1}}, peak);
    else
      map.remove(address, peak);
    if (peak == 0)
      continue;
    const PartMap::Parts found = map.atPeak(peak);
    ASSERT_EQ(bytesOf(found), bytesOf(at_peak)) << "change " << i;
    ASSERT_EQ(found.size(), at_peak.size()) << "change " << i;
    ASSERT_EQ(map.usedBytes(), bytesOf(map.now()));
  }
}

} // namespace
} // namespace msleaks::analysis
