// The objects of a Python program that a sampled block stands for (msleaks/abi/python_sample.h).
#pragma once

#include "analysis/live/cohort_sums.h"
#include "analysis/live/live_set.h"
#include "msleaks/abi/python_sample.h"

#include <algorithm>
#include <cmath>

namespace msleaks::analysis::inline live {

// A request was sampled with a probability that depends on its size. So it stands for 1 / probability objects.
inline double objectsPerSample(uint8_t units) {
  const auto requested = static_cast<double>(std::max<uint64_t>(units, 1) * abi::kSampleUnitBytes);
  return -1 / std::expm1(-requested / static_cast<double>(abi::kSampleBytes));
}

inline BlockSum estimateOf(const Block &sampled) {
  const double objects = objectsPerSample(sampled.device);
  return {static_cast<uint64_t>(std::llround(objects * static_cast<double>(sampled.size))),
          static_cast<uint64_t>(std::llround(objects))};
}

} // namespace msleaks::analysis::inline live
