// Tests the values by stream. Besides usual stream numbers, there are huge ones, which only a damaged file has.
#include "analysis/trace/per_stream.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <string>

namespace msleaks::analysis {
namespace {

TEST(PerStream, HasTheValuesOfAMap) {
  std::mt19937_64 random(1);
  PerStream<uint64_t> values;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> expected;
  for (int i = 0; i < 20'000; ++i) {
    const uint32_t process = static_cast<uint32_t>(random() % 3), kind = static_cast<uint32_t>(random() % 3);
    const auto stream = static_cast<uint32_t>(kind == 0   ? random() % 1000
                                              : kind == 1 ? random() % 100'000
                                                          : UINT32_MAX - random() % 3);
    ++values.of(process, stream);
    ++expected[{process, stream}];
  }
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> told;
  std::pair<uint32_t, uint32_t> last{0, 0};
  values.forEach([&](uint32_t process, uint32_t stream, uint64_t value) {
    EXPECT_LE(last, std::pair(process, stream));
    last = {process, stream};
    if (value != 0)
      told[{process, stream}] = value;
  });
  EXPECT_EQ(told, expected);
}

} // namespace
} // namespace msleaks::analysis
