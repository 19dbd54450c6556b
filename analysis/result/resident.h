// The resident memory of processes, which was sampled while they ran.
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
  // Samples of a process come in the order of time. If the memory did not change, there is no new sample.
  void add(std::span<const ResidentSample> samples) {
    for (const ResidentSample &sample : samples)
      by_process_[sample.process].push_back(sample);
  }
  // The process has no resident memory after this time.
  void end(uint32_t process, uint64_t time_ns) { ends_.emplace(process, time_ns); }
  // The process' last sample before this time. Or the next sample, if it is nearer and at most a second later. None
  // after the process' end.
  std::optional<ResidentSample> near(uint32_t process, uint64_t time_ns) const;
  // The time of the process' first sample, which is soon after its start.
  std::optional<uint64_t> beginOf(uint32_t process) const {
    const auto of = by_process_.find(process);
    return of == by_process_.end() ? std::nullopt : std::optional(of->second.front().time_ns);
  }
  // The process' highest sample.
  std::optional<ResidentSample> highest(uint32_t process) const;

private:
  std::map<uint32_t, std::vector<ResidentSample>> by_process_;
  std::map<uint32_t, uint64_t> ends_;
};

} // namespace msleaks::analysis::inline result
