// Moves the events, definitions, callers and accounts of one process image from its arena into the trace. The live
// collector and the recovery both use it. They differ only in where they start and when they call it.
//
// The order makes a kill harmless. First come the definitions that the events refer to, then the events, and then the
// ring's tail moves. A stream's account is written before its ring may be claimed again.
#pragma once

#include "analysis/collect/clock_fit.h"
#include "analysis/collect/definitions_file.h"
#include "analysis/reach/arena_reader.h"
#include "analysis/reach/heap_looks.h"
#include "analysis/reach/page_access.h"
#include "analysis/trace/trace_writer.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline collect {

// The part of a stream that is in the trace already.
struct StoredStream {
  uint64_t until_position = 0;
  uint64_t events = 0;
  StreamAccount account{};
};

// The part of a process that is in the trace already. Empty for a new process.
struct StoredProcess {
  std::unordered_map<uint32_t, StoredStream> streams;
  std::vector<uint32_t> callers;
  uint64_t definition_bytes = 0;
  uint32_t path_count = 0; // the number after the process' last path
};

// Events of threads without a ring count as produced and as dropped.
struct ProcessTotals {
  uint64_t produced = 0, stored = 0, dropped = 0, stalled_ns = 0;

  ProcessTotals &operator+=(const ProcessTotals &other) {
    produced += other.produced;
    stored += other.stored;
    dropped += other.dropped;
    stalled_ns += other.stalled_ns;
    return *this;
  }
};

// The output of the collector, and what all processes of a session share.
struct CollectOutput {
  TraceWriter &writer;
  const ClockModel &clock;
  std::function<void()> after_batch{}; // called after each batch, because a round over many full rings takes seconds
  std::vector<abi::Slot> scratch{};
};

// How urgently rings are drained. Batch waits until there are enough events for a chunk that compresses well.
// Everything does not wait. Snapshot also reads the rings of a flight recorder, which are otherwise read only at their
// end.
enum class Urgency { Batch, Everything, Snapshot };

// Returns the record by which the trace describes a process image that made an arena.
ProcessStart startOf(uint32_t process, const ArenaFacts &);

class ProcessCollector {
public:
  ProcessCollector(uint32_t process, ArenaReader arena, abi::OnFull policy, const StoredProcess &stored = {});

  uint32_t process() const { return process_; }
  const ArenaFacts &facts() const { return arena_.facts(); }
  const std::filesystem::path &arenaFile() const { return arena_.path(); }
  uint64_t arenaBytes() const { return arena_.memoryBytes(); }

  Result<void> start(TraceWriter &);
  // Starts to look which pages of large blocks were touched. `pid`: the process in the collector's pid namespace.
  void watchPages(uint32_t pid, uint64_t least_bytes);
  // Starts to look how much of the C library's heap is resident. Every block of the process must be recorded.
  void watchHeap(uint32_t pid) { heap_looks_.emplace(pid); }
  // Looks at the pages and the heap if a look is due.
  Result<void> lookAtPages(TraceWriter &, uint64_t now_ns);
  // Looks at the pages and the heap for the last time, while the process waits at its exit. Drains the rings first, so
  // that all blocks are known.
  Result<void> lookAtPagesAtExit(CollectOutput &);
  // Stores Pages events of two slots each, in a stream of their own.
  Result<void> storePages(const std::vector<abi::Slot> &, TraceWriter &);
  // Looks at every ring once. Returns the number of events stored; 0: there was nothing to do.
  Result<uint64_t> drain(CollectOutput &, Urgency, uint64_t now_ns);
  // Stores all events published so far, their definitions, and the current accounts. The recording goes on.
  Result<void> storeSnapshot(CollectOutput &);
  // Stores the rest, the accounts and the end of the process. Call this when nothing more will be recorded, or the
  // collector ends. Returns the time of the end: `end_ns`, or the last event if that is later. `end_ns` 0 = not known.
  Result<uint64_t> finish(CollectOutput &, uint64_t end_ns, int status, EndReason = EndReason::Ended);

  ProcessTotals totals() const;
  // Returns a time. All events before it are stored, unless a record took unusually long.
  uint64_t completeUntil() const;
  uint64_t exitNs() const { return arena_.exitNs(); }
  ArenaReader &arena() { return arena_; }
  const ArenaReader &arena() const { return arena_; }
  // Valid after finish(): whether the process has become a program that is not recorded.
  bool lostSight() const { return lost_sight_; }
  // One line for each part that was not recorded, with the reason.
  const std::vector<std::string> &notes() const { return notes_; }

private:
  struct Stream {
    uint32_t tid = 0;
    std::string thread_name;
    uint64_t until_position = 0;
    uint64_t stored = 0;
    RingAccount account;       // from the latest ring of the stream
    uint64_t account_from = 0; // first position of that ring
    uint64_t unpublished = 0;  // at most this many records were cut off, as far as is known
    bool accounted = false;    // this account is in the trace
  };
  struct Ring {
    uint32_t index;
    RingReader reader;
    uint64_t pending_since_ns = 0;
    bool ended = false;
    uint64_t complete_until_ns = 0; // all events of the ring before this time are stored
    // For the search for blocks to look at, which runs ahead of the draining. `small_bytes` is the sum of small blocks
    // that the search has found.
    uint64_t searched_until = 0, next_search_ns = 0, small_bytes = 0;
  };

  bool seesPages();
  Result<void> storeLook(uint64_t now_ns, bool at_exit, TraceWriter &);
  Result<void> lookAtHeap(uint64_t now_ns, bool at_exit, TraceWriter &);
  void findRings();
  bool openNewRings();
  void openRing(uint32_t index, bool ended);
  bool hasOpenPredecessor(const Ring &) const;
  bool waitsForPredecessor(const Ring &) const;
  bool bringsBlocks(Ring &, uint64_t head, uint64_t now_ns) const;
  bool isDue(Ring &, uint64_t head, uint64_t now_ns) const;
  bool shallDrain(Ring &, uint64_t head, Urgency, uint64_t now_ns) const;
  Result<void> drainRing(Ring &, uint64_t head, CollectOutput &);
  uint64_t skipOverwritten(const Ring &, std::span<const abi::Slot>, bool &cut) const;
  Result<uint64_t> storeWhole(const Ring &, uint64_t first, std::span<abi::Slot>, CollectOutput &);
  Result<void> storeEvents(const Ring &, uint64_t first, std::span<const abi::Slot>, uint64_t events, TraceWriter &);
  Result<void> storeMeaning(TraceWriter &);
  Result<void> storePaths(uint32_t until, TraceWriter &);
  void noteCaller(uint32_t site);
  void takeAccount(const Ring &);
  Result<void> closeRing(Ring &, TraceWriter &);
  Result<void> settle(uint32_t stream, TraceWriter &);
  Result<void> storeAccount(uint32_t stream, TraceWriter &);
  void note(std::string);

  uint32_t process_;
  ArenaReader arena_;
  DefinitionsFile definitions_;
  abi::OnFull policy_;
  std::vector<Ring> rings_;                      // the open rings, in the order in which their streams are stored
  std::vector<bool> open_;                       // by the ring's index in the arena
  std::unordered_map<uint32_t, Stream> streams_; // of threads that still exist
  RingAccount settled_;                          // sum of the threads that have ended
  std::vector<bool> known_callers_;
  std::vector<TraceWriter::CallerEntry> new_callers_;
  uint32_t stored_paths_ = abi::kFirstPath; // the number after the last path in the trace
  std::vector<PathEntry> new_paths_;
  uint64_t stored_ = 0;
  uint64_t looked_ns_;         // last look for rings: rings that are found later have no earlier event
  uint64_t last_event_ns_ = 0; // approximate: the last event of a batch
  uint64_t damaged_slots_ = 0;
  bool lost_sight_ = false;
  std::optional<PageAccess> pages_;
  std::optional<HeapLooks> heap_looks_;
  std::vector<std::string> notes_;
};

} // namespace msleaks::analysis::inline collect
