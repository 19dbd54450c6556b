// Tests the random distances between sampled objects of Python.
#include "python/exponential.h"

#include <cmath>
#include <gtest/gtest.h>

namespace msleaks::runtime::python {

TEST(PythonSample, LogarithmIsThatOfLibm) {
  for (int power = -250; power < 250; ++power) {
    const double number = std::pow(1.17, power); // from 1e-17 to 1e17
    EXPECT_NEAR(logarithmOf(number), std::log(number), 1e-5) << number;
  }
}

TEST(PythonSample, DistancesAreExponential) {
  constexpr double kMean = 16384;
  constexpr int kCount = 100'000;
  Random random;
  random.seed(0);
  double sum = 0;
  int beyond_mean = 0;
  for (int i = 0; i < kCount; ++i) {
    const auto distance = static_cast<double>(random.distance(kMean));
    ASSERT_GE(distance, 0);
    sum += distance;
    beyond_mean += distance > kMean;
  }
  EXPECT_NEAR(sum / kCount, kMean, 4 * kMean / std::sqrt(kCount));
  const double share = std::exp(-1.0);
  EXPECT_NEAR(beyond_mean, kCount * share, 4 * std::sqrt(kCount * share * (1 - share)));
}

TEST(PythonSample, EachSeedHasItsOwnSequence) {
  Random one, same, other;
  one.seed(1);
  same.seed(1);
  other.seed(2);
  bool differs = false;
  for (int i = 0; i < 10; ++i) {
    const int64_t distance = one.distance(16384);
    EXPECT_EQ(same.distance(16384), distance);
    differs |= other.distance(16384) != distance;
  }
  EXPECT_TRUE(differs);
}

} // namespace msleaks::runtime::python
