// Writes a session's trace: appends chunks, each with its description and checksum (docs/trace-format.md).
//
// When a call returns, one write has put its chunk into the file, and a kill of the writer cannot lose it. The
// collector moves a ring's tail only after that. So each event is in the ring or in the trace at any time.
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

// This number means the session itself instead of a process. The session has one stream, of Epoch events.
inline constexpr uint32_t kSessionProcess = 0;

// The process image whose units and site numbers the child of a fork inherited. pid 0: there is none.
struct Ancestor {
  uint32_t pid = 0;
  uint64_t attach_ns = 0; // its ProcessStart::time_ns
};

// A process image of the session. `process` counts the images from 1, in the order of attaching.
struct ProcessStart {
  uint32_t process;
  uint32_t pid;
  uint32_t parent_pid;
  uint64_t time_ns;     // CLOCK_MONOTONIC when the process attached
  uint64_t realtime_ns; // the same moment in real time
  std::vector<std::string> command;
  // Old traces do not have these fields. Pids are unique in a namespace; an exec makes another image with the same pid.
  uint64_t pid_namespace = 0; // 0 = not known
  uint32_t exec_id = 0;       // of the last exec, in the process or before the fork that made it; 0 = not known
  uint32_t page_bytes = 0;    // page size of its kernel; 0 = not known
  uint64_t process_birth = 0; // unique to a process, and kept by an exec; 0 = not known (abi::isOtherProcess)
  Ancestor ancestor{};        // in old traces, a definition contains it (abi::InheritedDefinition)
};

// Why the recording of a process image ended.
enum class EndReason : uint8_t {
  Ended,    // the process ended or disappeared; in old traces also the two below
  Running,  // the session ended before the process
  Replaced, // an exec replaced the image
};

// How a process image ended. `status` is as from waitpid, or -1 if it is not known.
struct ProcessEnd {
  uint32_t process;
  uint64_t time_ns;
  int32_t status;
  uint64_t dropped_no_ring;
  EndReason reason = EndReason::Ended;
};

// Consecutive slots of one stream (thread). header.time must be CLOCK_MONOTONIC in ns. The reader sorts the events of a
// batch. Across batches, it raises times that go backwards.
struct EventBatch {
  uint32_t process;
  uint32_t stream;
  uint64_t first_position;          // position of slots[0] in the stream
  std::span<const abi::Slot> slots; // contains only whole events
};

// The account of a stream, final or so far. A later account replaces an earlier one.
struct StreamAccount {
  uint32_t process;
  uint32_t stream;
  uint32_t tid;
  std::string thread_name;
  uint64_t produced; // attempted events: stored + dropped
  uint64_t dropped;
  uint64_t stalled_ns;
};

// The state after all events until a time, packed as a chunk (trace/checkpoint.h).
struct PackedCheckpoint;

// A sample of the memory of a process that was resident, as the kernel reports it.
struct ResidentSample {
  uint32_t process;
  uint64_t time_ns;
  uint64_t resident_bytes;
  uint64_t file_bytes; // pages of files and of shared memory in resident_bytes
  // Old traces do not have these fields.
  uint64_t shared_bytes = 0;   // shared memory in file_bytes, for example of a memfd or a tmpfs
  uint64_t recorder_bytes = 0; // the part of file_bytes that is the process' arena, in which msleaks records
};

// A sample of how much of a process' resident memory other processes share, as the kernel reports it.
struct SharingSample {
  uint32_t process;
  uint64_t time_ns;
  uint64_t pss_bytes;     // each page divided by the number of processes that map it
  uint64_t private_bytes; // pages that only this process maps
  uint64_t shared_bytes;  // all other resident pages
};

// Pointers in the memory of a process (trace/pointers.h).
struct PointerMap;

// A call in a path (abi::PathNode). `number` identifies the call in the process.
struct PathEntry {
  uint32_t number, parent, image;
  uint64_t address;
};

class TraceWriter {
public:
  // If `folder` is a folder's descriptor, creates the file there: `file` gives its name, and is printed in messages.
  static Result<TraceWriter> create(const std::filesystem::path &file, int folder = AT_FDCWD);
  // Opens the trace of a killed session to append chunks. Cuts off an incomplete chunk at its end.
  static Result<TraceWriter> append(const std::filesystem::path &file);
  TraceWriter(TraceWriter &&) noexcept;
  TraceWriter &operator=(TraceWriter &&) noexcept;
  ~TraceWriter();

  Result<void> processStart(const ProcessStart &);
  Result<void> processEnd(const ProcessEnd &);
  // Takes whole records of the process' .defs file (abi/definitions.h), and stores them unchanged.
  Result<void> definitions(uint32_t process, std::span<const std::byte> records);
  // New entries of the arena's table of callers: (index, image, address).
  struct CallerEntry {
    uint32_t index, image;
    uint64_t address;
  };
  Result<void> callers(uint32_t process, std::span<const CallerEntry> entries);
  // New nodes of the process' tree of paths: at most kMaxPathsAtOnce, with consecutive numbers.
  static constexpr size_t kMaxPathsAtOnce = 65536;
  Result<void> paths(uint32_t process, std::span<const PathEntry> entries);
  // Stores the names of addresses in an image, for a report on a machine without the image.
  Result<void> names(const ImageNames &);
  // Takes at most kMaxResidentAtOnce samples.
  static constexpr size_t kMaxResidentAtOnce = 4096;
  Result<void> resident(std::span<const ResidentSample>);
  Result<void> sharing(std::span<const SharingSample>); // at most kMaxResidentAtOnce
  // First store the packed pointers (PointerPacker), then the map of the memory that contained them.
  Result<void> pointers(uint32_t process, std::span<const uint8_t> packed);
  Result<void> pointerMap(const PointerMap &);
  Result<void> events(const EventBatch &);
  Result<void> streamAccount(const StreamAccount &);
  // Tells a reader of the growing trace that everything before this time is stored, except records of processes that
  // attach later. Writes 80 bytes.
  Result<void> completeUntil(uint64_t time_ns);
  // Call this after all events and ends of processes: any later one makes the checkpoint invalid. Ignores a checkpoint
  // that is not later than the one before.
  Result<void> checkpoint(const PackedCheckpoint &);
  // Writes the index and the trailer. A trace without them is still complete, since a reader can rebuild the index.
  Result<void> close();

  uint64_t bytesWritten() const;

private:
  struct State;
  explicit TraceWriter(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

} // namespace msleaks::analysis::inline trace
