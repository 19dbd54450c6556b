// Reads the memory of a process part by part into a trace: which words may point to blocks. Nothing runs in the process
// meanwhile.
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

// Picks the words out of memory that may be pointers to blocks.
class PointerScan {
public:
  // Where a pointer to a block can point to; by address.
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

  // Calls f(pointer) for each word that points into a range, whatever its tag is; `words` were read from `begin`, a
  // multiple of 8.
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
  Range last_{0, 0}; // that was hit: neighbours point to neighbours
};

class PointerReading {
public:
  struct Subject {
    uint32_t process = 0;
    uint32_t pid = 0;      // where we are; 0 = it cannot be read from here
    ThreadState waiting;   // by itself, with its registers on its stack; tid 0 = none does
    uint64_t since_ns = 0; // that it waits
    std::string session;   // folder
    OwnStorage own{};
    uint64_t most_bytes = 0; // more are not read
    bool all_blocks = false; // PointerMap::all_blocks
    std::string why_not;     // it cannot be told what is lost, for this reason
  };
  // Stops the other threads of the process until it is destroyed. Of a process that does not wait they run on until
  // none of them is in the middle of an allocation.
  explicit PointerReading(Subject);

  const PointerMap &map() const { return map_; }
  // Whether threads stayed in the middle of an allocation. One may wait for room in its ring.
  bool isUnsettled() const { return stopped_ && stopped_->unsettled() > 0; }
  // Whether a thread of the process waits for the end of this.
  bool isAwaited() const { return subject_.waiting.tid != 0; }

  // Reads about so many bytes more. True: all is read, and the map must be stored.
  Result<bool> advance(TraceWriter &, uint64_t bytes);
  // `whole`: the process has waited until now.
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
  std::vector<ProcessMemory::Run> runs_; // that are to be read, by address
  size_t next_run_ = 0;
  std::vector<uint64_t> words_;
  PointerPacker packer_;
};

} // namespace msleaks::analysis::inline reach
