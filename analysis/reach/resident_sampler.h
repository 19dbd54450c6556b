// Measures from time to time how much memory of each process is resident.
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

  // `look`: returns the resident memory of a process; nothing: there is no such process.
  explicit ResidentSampler(Look look = lookAt) : look_(std::move(look)) {}

  // Whether a sample is due: soon after the process was first seen, later ten times a second, and less often if there
  // are many processes.
  bool isDue(uint32_t process, uint64_t now_ns) const;
  // Takes a sample of a process. `pid`: in the collector's pid namespace; 0 = not visible there. `recorder_bytes`: size
  // of its arena. A sample that equals the one before is not kept.
  void visit(uint32_t process, uint32_t pid, uint64_t recorder_bytes, uint64_t now_ns);
  void forget(uint32_t process) { processes_.erase(process); }
  // Writes the samples once a second, or when there are many. `all`: writes them at once.
  Result<void> store(TraceWriter &, uint64_t now_ns, bool all = false);

  // Reads /proc/PID/status. This costs twice as much as statm, which does not separate shared memory from files.
  static std::optional<Pages> lookAt(uint32_t pid);

private:
  struct Visited {
    uint64_t next_ns = 0;
    uint64_t pause_ns = kFirstPauseNs;
    Pages last;
  };
  // A look takes 10 us, so all looks together cost at most a thousandth of a core. (statm takes 4 us. smaps_rollup
  // contains more, but takes 17 ms for each GiB of resident memory.)
  static constexpr uint64_t kFirstPauseNs = 10'000'000, kLongestPauseNs = 100'000'000, kPauseOfOneNs = 10'000'000;
  static constexpr uint64_t kStoreNs = 1'000'000'000;

  Look look_;
  std::unordered_map<uint32_t, Visited> processes_;
  std::vector<ResidentSample> samples_;
  uint64_t next_store_ns_ = 0;
};

} // namespace msleaks::analysis::inline reach
