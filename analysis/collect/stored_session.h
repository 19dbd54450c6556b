// The part of a session that is in the trace after its collector was killed. The next collector, or the recovery,
// continues there.
#pragma once

#include "analysis/collect/process_collector.h"
#include "analysis/trace/trace_reader.h"

#include <map>
#include <optional>

namespace msleaks::analysis::inline collect {

struct StoredSession {
  struct Entry {
    ProcessStart start;
    std::optional<ProcessEnd> end;
    StoredProcess stored;
  };
  std::map<uint32_t, Entry> processes;
  uint32_t last_process = 0;

  // Returns the entry of the process image that made this arena, or null.
  Entry *find(const ArenaFacts &);
};

Result<StoredSession> readStored(const TraceReader &);

// The trace of a session whose collector was killed: as the collector left it, and open for more.
struct StoredTrace {
  TraceReader before;
  StoredSession stored;
  TraceWriter trace;
};
Result<StoredTrace> openStored(const std::filesystem::path &trace);

// Fills in how much of each stream is stored, for all streams that have an account or a ring.
void findPositions(StoredProcess &, uint32_t process, const ArenaReader &, const TraceReader &);

} // namespace msleaks::analysis::inline collect
