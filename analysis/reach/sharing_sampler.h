// Measures from time to time how much of the memory of a process other processes share. Only sessions in which a
// process forks need this.
#pragma once

#include "analysis/base/result.h"
#include "analysis/trace/trace_writer.h"

#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline reach {

struct Sharing {
  uint64_t pss_bytes = 0, private_bytes = 0, shared_bytes = 0; // as in SharingSample
  bool operator==(const Sharing &) const = default;
};
// Reads the text of /proc/PID/smaps_rollup. Nothing: the text has no such numbers.
std::optional<Sharing> parseSharing(std::string_view rollup);

class SharingSampler {
public:
  using Read = std::function<std::string(uint32_t pid)>;
  // `read` returns the text of /proc/PID/smaps_rollup, or nothing. It has a thread of its own, unless a test passes
  // std::launch::deferred: the kernel takes 30 ms for each GiB of a process.
  explicit SharingSampler(Read read = readRollup, std::launch thread = std::launch::async)
      : read_(std::move(read)), thread_(thread) {}

  // `pid`: in the collector's pid namespace.
  void add(uint32_t process, uint32_t pid) { processes_.try_emplace(process, Watched{pid}); }
  void forget(uint32_t process) { processes_.erase(process); }
  // Takes the sample that was read, and begins to read the next one if it is due: of each process at most one a second.
  // All samples together take at most a twenty-fifth of the time.
  void visit(uint64_t now_ns);
  bool isReading() const { return reading_.has_value(); }
  // Writes the samples once a second. `all`: writes them at once.
  Result<void> store(TraceWriter &, uint64_t now_ns, bool all = false);

private:
  struct Watched {
    uint32_t pid;
    uint64_t next_ns = 0, pause_ns = kFirstPauseNs;
    Sharing last = {};
  };
  static constexpr uint64_t kFirstPauseNs = 100'000'000, kLongestPauseNs = 1'000'000'000, kPauseOfCost = 25;
  static constexpr uint64_t kStoreNs = 1'000'000'000;
  struct Reading {
    uint32_t process;
    uint64_t time_ns;
    std::future<std::pair<std::string, uint64_t>> text; // and the time of the processor that it took
  };
  static std::string readRollup(uint32_t pid);
  void begin(uint64_t now_ns);
  void take(uint64_t now_ns);

  Read read_;
  std::launch thread_;
  std::optional<Reading> reading_;
  uint64_t next_ns_ = 0, next_store_ns_ = 0;
  std::unordered_map<uint32_t, Watched> processes_;
  std::vector<SharingSample> samples_;
};

} // namespace msleaks::analysis::inline reach
