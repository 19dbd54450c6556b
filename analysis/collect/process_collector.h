// Brings one process image's events, definitions, callers and accounts from its arena into the trace. Live collection
// and recovery both use it; they differ only in where they start and in when they call it.
//
// This order makes a kill harmless: first the definitions that events refer to, then the events, then the ring's tail
// moves. A stream's account is written before its ring may be claimed again.
#pragma once

#include "analysis/collect/clock_fit.h"
#include "analysis/collect/definitions_file.h"
#include "analysis/reach/arena_reader.h"
#include "analysis/reach/page_access.h"
#include "analysis/trace/trace_writer.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline collect {

// The part of a stream that a trace holds already.
struct StoredStream {
  uint64_t until_position = 0;
  uint64_t events = 0;
  StreamAccount account{};
};

// The part of a process that a trace holds already. Empty for a new one.
struct StoredProcess {
  std::unordered_map<uint32_t, StoredStream> streams;
  std::vector<uint32_t> callers;
  uint64_t definition_bytes = 0;
  uint32_t path_count = 0; // the number behind its last path
};

// Events of threads that got no ring are produced and dropped.
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

// Where collected events go, and what all processes of a session share on the way.
struct CollectOutput {
  TraceWriter &writer;
  const ClockModel &clock;
  std::function<void()> after_batch{}; // a round over many full rings takes seconds
  std::vector<abi::Slot> scratch{};
};

// Batch waits until enough has gathered for a chunk that compresses well, Everything does not. Snapshot also reads the
// rings of a flight recorder, which are read at their end otherwise.
enum class Urgency { Batch, Everything, Snapshot };

// What the trace is told of the process image that made an arena.
ProcessStart startOf(uint32_t process, const ArenaFacts &);

class ProcessCollector {
public:
  ProcessCollector(uint32_t process, ArenaReader arena, abi::OnFull policy, const StoredProcess &stored = {});

  uint32_t process() const { return process_; }
  const ArenaFacts &facts() const { return arena_.facts(); }
  const std::filesystem::path &arenaFile() const { return arena_.path(); }
  uint64_t arenaBytes() const { return arena_.memoryBytes(); }

  Result<void> start(TraceWriter &);
  // From now on it is looked which pages of large blocks were touched. `pid`: where we are.
  void watchPages(uint32_t pid, uint64_t least_bytes);
  // Looks, if it is time for it.
  Result<void> lookAtPages(TraceWriter &, uint64_t now_ns);
  // For the last time: the process waits at its exit. Drains its rings, so that all its blocks are known.
  Result<void> lookAtPagesAtExit(CollectOutput &);
  // One look at every ring. Returns the number of events stored; 0 when there was nothing to do.
  Result<uint64_t> drain(CollectOutput &, Urgency, uint64_t now_ns);
  // All that is published so far, what it means, and the accounts as they stand; recording goes on.
  Result<void> storeSnapshot(CollectOutput &);
  // Nothing will be recorded any more, or nobody will look: the rest, the accounts and the end of the process. Returns
  // when that was: `end_ns`, or its last event if that is later. 0 = not known: its last event.
  Result<uint64_t> finish(CollectOutput &, uint64_t end_ns, int status, EndReason = EndReason::Ended);

  ProcessTotals totals() const;
  // Everything that the process recorded before this time is stored, but for a record that was under way then and took
  // longer than records do.
  uint64_t completeUntil() const;
  uint64_t exitNs() const { return arena_.exitNs(); }
  ArenaReader &arena() { return arena_; }
  const ArenaReader &arena() const { return arena_; }
  // After finish(): it became a program that nobody could see.
  bool lostSight() const { return lost_sight_; }
  // A line for each thing that could not be seen, with the reason.
  const std::vector<std::string> &notes() const { return notes_; }

private:
  struct Stream {
    uint32_t tid = 0;
    std::string thread_name;
    uint64_t until_position = 0;
    uint64_t stored = 0;
    RingAccount account;       // of its latest ring
    uint64_t account_from = 0; // that ring's first position
    uint64_t unpublished = 0;  // at most so many records were cut off, by the last look
    bool accounted = false;    // the trace has this account
  };
  struct Ring {
    uint32_t index;
    RingReader reader;
    uint64_t pending_since_ns = 0;
    bool ended = false;
    uint64_t complete_until_ns = 0; // when all that was in it had been stored
    // For allocations of large blocks, beside what was drained.
    uint64_t searched_until = 0, next_search_ns = 0;
  };

  bool seesPages();
  Result<void> storeLook(uint64_t now_ns, bool at_exit, TraceWriter &);
  Result<void> storePages(const std::vector<abi::Slot> &, TraceWriter &);
  void findRings();
  bool openNewRings();
  void openRing(uint32_t index, bool ended);
  bool hasOpenPredecessor(const Ring &) const;
  bool waitsForPredecessor(const Ring &) const;
  bool bringsLargeBlock(Ring &, uint64_t head, uint64_t now_ns) const;
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
  std::vector<Ring> rings_;                      // open ones, in the order in which their streams must be stored
  std::vector<bool> open_;                       // by index in the arena
  std::unordered_map<uint32_t, Stream> streams_; // of threads that are there
  RingAccount settled_;                          // of those that have gone
  std::vector<bool> known_callers_;
  std::vector<TraceWriter::CallerEntry> new_callers_;
  uint32_t stored_paths_ = abi::kFirstPath; // the number behind the last one in the trace
  std::vector<PathEntry> new_paths_;
  uint64_t stored_ = 0;
  uint64_t looked_ns_;         // for rings: of those that are found later, nothing is earlier
  uint64_t last_event_ns_ = 0; // nearly: of the last in a batch
  uint64_t damaged_slots_ = 0;
  bool lost_sight_ = false;
  std::optional<PageAccess> pages_;
  std::vector<std::string> notes_;
};

} // namespace msleaks::analysis::inline collect
