// How much memory of processes was resident, as it was sampled while they ran.
#pragma once

#include "analysis/trace/trace_writer.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace msleaks::analysis::inline result {

class ResidentHistory {
public:
  // In order of time within a process. One that does not change is not sampled again.
  void add(std::span<const ResidentSample> samples) {
    for (const ResidentSample &sample : samples)
      by_process_[sample.process].push_back(sample);
  }
  // Nothing of the process is resident behind this time.
  void end(uint32_t process, uint64_t time_ns) { ends_.emplace(process, time_ns); }
  // The process' last sample before this time, or the next one, if that is nearer and within a second; none behind its
  // end.
  std::optional<ResidentSample> near(uint32_t process, uint64_t time_ns) const;
  // Its highest one.
  std::optional<ResidentSample> highest(uint32_t process) const;

private:
  std::map<uint32_t, std::vector<ResidentSample>> by_process_;
  std::map<uint32_t, uint64_t> ends_;
};

} // namespace msleaks::analysis::inline result
