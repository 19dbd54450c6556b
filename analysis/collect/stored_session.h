// The part of a session that its trace holds after its collector was killed: the next one, or recovery, goes on there.
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

  // The entry of the process image that made this arena, or null.
  Entry *find(const ArenaFacts &);
};

Result<StoredSession> readStored(const TraceReader &);

// The trace of a session whose collector was killed, as it was left, and open for more.
struct StoredTrace {
  TraceReader before;
  StoredSession stored;
  TraceWriter trace;
};
Result<StoredTrace> openStored(const std::filesystem::path &trace);

// Fills in how far the streams are stored that have an account, or a ring.
void findPositions(StoredProcess &, uint32_t process, const ArenaReader &, const TraceReader &);

} // namespace msleaks::analysis::inline collect
