// Writes a session's trace: append-only chunks, each self-describing and checksummed (docs/trace-format.md).
//
// Every call is durable against a kill of the writer when it returns: its chunk has gone to the file with one write.
// The collector moves a ring's tail only after that, so an event is in the ring or in the trace, never in neither.
#pragma once

#include "analysis/base/result.h"
#include "analysis/trace/code_place.h"
#include "msleaks/abi/events.h"

#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace msleaks::analysis::inline trace {

// In the place of a process: the session itself. It has one stream, of Epoch events.
inline constexpr uint32_t kSessionProcess = 0;

// The process image whose units and site numbers the child of a fork inherited. pid 0: none.
struct Ancestor {
  uint32_t pid = 0;
  uint64_t attach_ns = 0; // its ProcessStart::time_ns
};

// A process image of the session. `process` counts from 1 in the order of attaching.
struct ProcessStart {
  uint32_t process;
  uint32_t pid;
  uint32_t parent_pid;
  uint64_t time_ns;     // CLOCK_MONOTONIC when it attached
  uint64_t realtime_ns; // the same moment since the epoch
  std::vector<std::string> command;
  // Not in old traces. A pid is unique in its namespace; an exec makes another image of the same pid.
  uint64_t pid_namespace = 0; // 0 = not known
  uint32_t exec_id = 0;       // of the exec that the image, or the one it was forked from, began with; 0 = not known
  uint32_t page_bytes = 0;    // page size of its kernel; 0 = not known
  uint64_t process_birth = 0; // an exec keeps it, no other process has it; 0 = not known (abi::isOtherProcess)
  Ancestor ancestor{};        // old traces say it by a definition (abi::InheritedDefinition)
};

// Why a process image is not recorded any further.
enum class EndReason : uint8_t {
  Ended,    // the process did, or somehow disappeared; in old traces also the two below
  Running,  // the session ended before it
  Replaced, // by an exec
};

// How a process image ended. `status` as from waitpid, -1 when nobody could tell.
struct ProcessEnd {
  uint32_t process;
  uint64_t time_ns;
  int32_t status;
  uint64_t dropped_no_ring;
  EndReason reason = EndReason::Ended;
};

// Consecutive slots of one stream (thread). header.time must already be CLOCK_MONOTONIC ns, and must not go backwards
// by more than the merge of the reader tolerates (it sorts within a batch, not across).
struct EventBatch {
  uint32_t process;
  uint32_t stream;
  uint64_t first_position;          // of slots[0] in the stream
  std::span<const abi::Slot> slots; // whole events
};

// Final or interim account of a stream; a later one replaces an earlier one.
struct StreamAccount {
  uint32_t process;
  uint32_t stream;
  uint32_t tid;
  std::string thread_name;
  uint64_t produced; // events attempted: stored + dropped
  uint64_t dropped;
  uint64_t stalled_ns;
};

// The state after all events until a time, packed as a chunk (trace/checkpoint.h).
struct PackedCheckpoint;

// How much memory of a process was resident, as its kernel had it.
struct ResidentSample {
  uint32_t process;
  uint64_t time_ns;
  uint64_t resident_bytes;
  uint64_t file_bytes; // pages of files and of shared memory among them
  // Not in old traces.
  uint64_t shared_bytes = 0;   // shared memory among them, as of a memfd or a tmpfs
  uint64_t recorder_bytes = 0; // the process' arena among file_bytes, in which msleaks records
};

// Pointers in the memory of a process (trace/pointers.h).
struct PointerMap;

// A call of a path (abi::PathNode), with its number in the process.
struct PathEntry {
  uint32_t number, parent, image;
  uint64_t address;
};

class TraceWriter {
public:
  // Creates `file`, which must not exist. With a `folder`, in there: the path is only its name in messages.
  static Result<TraceWriter> create(const std::filesystem::path &file, int folder = AT_FDCWD);
  // Opens the trace of a killed session for more chunks; a torn chunk at its end is cut off.
  static Result<TraceWriter> append(const std::filesystem::path &file);
  TraceWriter(TraceWriter &&) noexcept;
  TraceWriter &operator=(TraceWriter &&) noexcept;
  ~TraceWriter();

  Result<void> processStart(const ProcessStart &);
  Result<void> processEnd(const ProcessEnd &);
  // Whole records of the process' .defs file (abi/definitions.h), as they are.
  Result<void> definitions(uint32_t process, std::span<const std::byte> records);
  // Entries of the arena's caller table that are new: (index, image, address).
  struct CallerEntry {
    uint32_t index, image;
    uint64_t address;
  };
  Result<void> callers(uint32_t process, std::span<const CallerEntry> entries);
  // Nodes of the process' tree of paths that are new, at most kMaxPathsAtOnce, with numbers in a row.
  static constexpr size_t kMaxPathsAtOnce = 65536;
  Result<void> paths(uint32_t process, std::span<const PathEntry> entries);
  // The names of addresses in an image, for a report where the image is not.
  Result<void> names(const ImageNames &);
  // At most kMaxResidentAtOnce.
  static constexpr size_t kMaxResidentAtOnce = 4096;
  Result<void> resident(std::span<const ResidentSample>);
  // Pointers that are packed (PointerPacker), then the map that says what they were found in.
  Result<void> pointers(uint32_t process, std::span<const uint8_t> packed);
  Result<void> pointerMap(const PointerMap &);
  Result<void> events(const EventBatch &);
  Result<void> streamAccount(const StreamAccount &);
  // Says to who reads the trace while it grows that everything earlier than this is stored, but for records of
  // processes that have not attached yet. 80 bytes.
  Result<void> completeUntil(uint64_t time_ns);
  // Behind all events and ends of processes: who adds some later ends its use. One that is not later than the one
  // before is left out.
  Result<void> checkpoint(const PackedCheckpoint &);
  // Writes index and trailer. A trace without them is complete all the same: the reader rebuilds the index.
  Result<void> close();

  uint64_t bytesWritten() const;

private:
  struct State;
  explicit TraceWriter(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

} // namespace msleaks::analysis::inline trace
