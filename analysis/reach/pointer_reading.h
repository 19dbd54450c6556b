// Reads the memory of a process part by part, and writes the words that may point to blocks into a trace. The process
// stands still meanwhile.
#pragma once

#include "analysis/base/result.h"
#include "analysis/reach/arena_reader.h"
#include "analysis/reach/process_memory.h"
#include "analysis/reach/region_map.h"
#include "analysis/reach/stopped_threads.h"
#include "analysis/trace/pointers.h"
#include "analysis/trace/trace_writer.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace msleaks::analysis::inline reach {

// Finds words in memory that may be pointers to blocks.
class PointerScan {
public:
  // `targets`: the memory that may contain blocks, sorted by address.
  explicit PointerScan(std::span<const MemoryRegion> targets) {
    for (const MemoryRegion &target : targets)
      if (!ranges_.empty() && ranges_.back().end == target.begin)
        ranges_.back().end = target.end;
      else
        ranges_.push_back({target.begin, target.end});
    if (ranges_.empty())
      return;
    first_ = ranges_.front().begin;
    bytes_ = ranges_.back().end - first_;
    last_ = ranges_.front();
  }

  // Calls f(pointer) for each word that points into a range, with any tag in its upper bits. `words` were read from
  // address `begin`, a multiple of 8.
  template <class F> void scan(uint64_t begin, std::span<const uint64_t> words, F &&f) {
    for (size_t i = 0; i < words.size(); ++i)
      if (const uint64_t address = addressOf(words[i]); address - first_ < bytes_ && isTarget(address)) // few do
        f(Pointer{begin + i * sizeof(uint64_t), words[i]});
  }

private:
  struct Range {
    uint64_t begin, end;
  };

  bool isTarget(uint64_t address) {
    if (address - last_.begin < last_.end - last_.begin)
      return true;
    const auto behind = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                         [](uint64_t at, const Range &range) { return at < range.begin; });
    if (behind == ranges_.begin() || address >= std::prev(behind)->end)
      return false;
    last_ = *std::prev(behind);
    return true;
  }

  std::vector<Range> ranges_;
  uint64_t first_ = 0, bytes_ = 0;
  Range last_{0, 0}; // the range of the last hit: adjacent words often point to one range
};

class PointerReading {
public:
  struct Subject {
    uint32_t process = 0;
    uint32_t pid = 0;      // in the collector's pid namespace; 0 = it cannot be read from here
    ThreadState waiting;   // the thread that waits, with its registers on its stack; tid 0 = none
    uint64_t since_ns = 0; // since when the process waits
    std::string session;   // folder of the session
    OwnStorage own{};
    uint64_t most_bytes = 0; // a process with more bytes is not read
    bool all_blocks = false; // PointerMap::all_blocks
    std::string why_not;     // why it is not known what is lost; empty: it is known
  };
  // Stops the threads of the process until this object is destroyed. If no thread waits, the threads run on until none
  // of them is in the middle of an allocation.
  explicit PointerReading(Subject);

  const PointerMap &map() const { return map_; }
  // Whether threads are still in the middle of an allocation. Such a thread may wait for room in its ring.
  bool isUnsettled() const { return stopped_ && stopped_->unsettled() > 0; }
  // Whether a thread of the process waits for the end of the reading.
  bool isAwaited() const { return subject_.waiting.tid != 0; }

  // Reads about `bytes` more bytes. True: everything was read, and the map must be stored.
  Result<bool> advance(TraceWriter &, uint64_t bytes);
  // `whole`: the process has waited, or stood still, until now.
  Result<void> store(TraceWriter &, uint64_t now_ns, bool whole);

private:
  void prepare();
  void stopThreads();
  std::vector<ThreadState> threads() const;
  void planRuns();
  void takeRegisters();
  Result<void> flush(TraceWriter &);
  Result<void> readPart(TraceWriter &, ProcessMemory::Run);
  void giveUp(std::string why);

  Subject subject_;
  PointerMap map_;
  std::optional<StoppedThreads> stopped_;
  std::optional<ProcessMemory> memory_;
  std::optional<PointerScan> scan_;
  std::vector<ProcessMemory::Run> runs_; // the memory to read, by address
  size_t next_run_ = 0;
  std::vector<uint64_t> words_;
  PointerPacker packer_;
};

} // namespace msleaks::analysis::inline reach
