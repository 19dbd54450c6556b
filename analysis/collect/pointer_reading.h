// Reads the memory of a process part by part into a trace: which words may point to blocks. Nothing runs in the process
// meanwhile.
#pragma once

#include "analysis/base/result.h"
#include "analysis/collect/arena_reader.h"
#include "analysis/collect/pointer_scan.h"
#include "analysis/collect/process_memory.h"
#include "analysis/collect/region_map.h"
#include "analysis/collect/stopped_threads.h"
#include "analysis/trace/pointers.h"
#include "analysis/trace/trace_writer.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis {

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
  trace::PointerPacker packer_;
};

} // namespace msleaks::analysis
