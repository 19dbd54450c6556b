// The samples of a perf.data, summed up by place in an image. Records of several processors come as their buffers were
// emptied. They are put in order of time by the rounds that perf marks, so that a sample meets the images that were
// mapped at its time.
#pragma once

#include "analysis/profiles/perf_file.h"
#include "analysis/profiles/place_sums.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace msleaks::analysis::profiles {

struct SampledImage {
  std::string path;                // or what perf calls it: "[vdso]", "//anon"; empty: no image was known there
  std::vector<std::byte> build_id; // empty: not known
  bool kernel = false;
  PlaceSums sums; // of periods, by offset in the file; in the kernel and where nothing was known, by address
};

struct PerfSamples {
  std::vector<SampledImage> images; // those that have samples, and others
  std::vector<uint64_t> totals;     // by event
  uint64_t samples = 0, lost = 0, unknown_events = 0;
};

// Memory grows with places in code and with what one round of perf has, not with the file.
Result<PerfSamples> readPerfSamples(const trace::InputFile &, const PerfFile &);

} // namespace msleaks::analysis::profiles
