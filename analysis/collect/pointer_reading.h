// Reads the memory of a process that waits, part by part, into a trace: which words may point to blocks.
#pragma once

#include "analysis/base/result.h"
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
    uint32_t pid = 0; // where we are; 0 = it cannot be read from here
    ThreadState waiting;
    uint64_t since_ns = 0;
    std::string session;     // folder
    uint64_t most_bytes = 0; // more are not read
    bool all_blocks = false; // PointerMap::all_blocks
    std::string why_not;     // it cannot be told what is lost, for this reason
  };
  // Stops the other threads of the process until it is destroyed, on the same thread as this.
  explicit PointerReading(Subject);

  // Reads about so many bytes more. True: all is read, and the map must be stored.
  Result<bool> advance(TraceWriter &, uint64_t bytes);
  // `whole`: the process has waited until now.
  Result<void> store(TraceWriter &, uint64_t now_ns, bool whole);

private:
  void prepare();
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
