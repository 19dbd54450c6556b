// Looks now and then how much memory of each process is resident.
#pragma once

#include "analysis/base/result.h"
#include "analysis/trace/trace_writer.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline reach {

class ResidentSampler {
public:
  struct Pages {
    uint64_t resident_bytes = 0, file_bytes = 0; // as in ResidentSample
    uint64_t shared_bytes = 0;
    bool operator==(const Pages &) const = default;
  };
  using Look = std::function<std::optional<Pages>(uint32_t pid)>;

  // `look`: what is resident of a process now; nothing when there is none.
  explicit ResidentSampler(Look look = lookAt) : look_(std::move(look)) {}

  // Soon after the process was seen first, later ten times a second, less often where there are many processes.
  bool isDue(uint32_t process, uint64_t now_ns) const;
  // Samples it. `pid`: where we are; 0 = not seen from here. `recorder_bytes`: of its arena. What is as it was the last
  // time is not kept.
  void visit(uint32_t process, uint32_t pid, uint64_t recorder_bytes, uint64_t now_ns);
  void forget(uint32_t process) { processes_.erase(process); }
  // Writes the samples, each second or when there are many; with `all`, whatever is there.
  Result<void> store(TraceWriter &, uint64_t now_ns, bool all = false);

  // From /proc/PID/status: twice the cost of statm, which does not tell shared memory from files.
  static std::optional<Pages> lookAt(uint32_t pid);

private:
  struct Visited {
    uint64_t next_ns = 0;
    uint64_t pause_ns = kFirstPauseNs;
    Pages last;
  };
  // A look takes 10 us: all together cost a thousandth of a core at most. (statm takes 4 us; smaps_rollup, which would
  // tell more, 17 ms for each GiB that is resident.)
  static constexpr uint64_t kFirstPauseNs = 10'000'000, kLongestPauseNs = 100'000'000, kPauseOfOneNs = 10'000'000;
  static constexpr uint64_t kStoreNs = 1'000'000'000;

  Look look_;
  std::unordered_map<uint32_t, Visited> processes_;
  std::vector<ResidentSample> samples_;
  uint64_t next_store_ns_ = 0;
};

} // namespace msleaks::analysis::inline reach
