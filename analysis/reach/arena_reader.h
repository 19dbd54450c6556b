// The consumer's side of a process' shared memory (abi/session.h). Nothing in it is trusted: every offset, size and
// capacity is checked against the file before it is used, and used from a copy.
#pragma once

#include "analysis/base/result.h"
#include "analysis/reach/mapping.h"
#include "analysis/trace/trace_writer.h"
#include "msleaks/abi/session.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace msleaks::analysis::inline reach {

// What a thread says about its stream; see RingHeader.
struct RingAccount {
  uint64_t produced = 0;
  uint64_t dropped = 0;
  uint64_t stalled_ns = 0;

  RingAccount &operator+=(const RingAccount &other) {
    produced += other.produced;
    dropped += other.dropped;
    stalled_ns += other.stalled_ns;
    return *this;
  }
  RingAccount &operator-=(const RingAccount &other) {
    produced -= other.produced;
    dropped -= other.dropped;
    stalled_ns -= other.stalled_ns;
    return *this;
  }
};

class RingReader {
public:
  static Result<RingReader> open(const FileDescriptor &arena, uint64_t offset, uint64_t bytes);

  uint32_t stream() const { return stream_; }
  uint32_t tid() const { return tid_; }
  const std::string &threadName() const { return thread_name_; }
  uint64_t capacity() const { return capacity_; }
  uint64_t firstPosition() const { return first_position_; }

  // Position up to which slots were handed on. Our own figure; the shared tail follows it.
  uint64_t position() const { return position_; }
  void moveTo(uint64_t position);

  // Published up to here. Less than position() means: nothing new (a signal handler is at work).
  uint64_t head() const;
  // Reserved up to here: what lies more than a capacity below it may be overwritten.
  uint64_t reserved() const;
  uint64_t depth() const;
  RingAccount account() const;

  // Copies the slots [from, from + out.size()); the caller knows that they are published.
  void copy(uint64_t from, std::span<abi::Slot> out) const;

private:
  abi::RingHeader *header() const { return mapping_.at<abi::RingHeader>(0); }

  Mapping mapping_;
  uint32_t stream_ = 0, tid_ = 0;
  std::string thread_name_;
  uint64_t capacity_ = 0, first_position_ = 0, position_ = 0;
};

struct ArenaFacts {
  uint32_t pid = 0, parent_pid = 0; // as the process itself knows them
  uint64_t pid_namespace = 0;       // 0 = cannot be told
  uint64_t process_birth = 0;       // 0 = cannot be told; abi::isOtherProcess
  uint32_t exec_id = 0;             // 0 = cannot be told
  Ancestor ancestor;
  uint32_t page_bytes = 0; // as the process says
  abi::ClockKind clock{};
  uint64_t attach_ticks = 0, attach_ns = 0, attach_realtime_ns = 0;
  std::vector<std::string> command;
};

// The runtime's own storage: of each thread, and of the process.
struct OwnStorage {
  int64_t offset = 0;      // from the thread pointer on
  uint64_t bytes = 0;      // 0 = not told
  uint64_t call_state = 0; // abi::CallState's offset in it
  uint64_t memory = 0;     // where a pointer to its first abi::OwnMemory lies; 0 = not told

  uint64_t of(uint64_t thread_pointer) const { return thread_pointer + static_cast<uint64_t>(offset); }
};

class ArenaReader {
public:
  // Nothing: the process is still making it, or we have too many files open. An error: it will never be usable.
  static Result<std::optional<ArenaReader>> open(const std::filesystem::path &file);

  const std::filesystem::path &path() const { return path_; }
  const ArenaFacts &facts() const { return facts_; }

  uint32_t ringCount() const;
  abi::RingState ringState(uint32_t index) const;
  Result<RingReader> openRing(uint32_t index) const;
  void markDrained(uint32_t index);

  // Nothing: no such caller.
  struct CallerPlace {
    uint64_t address;
    uint32_t image;
  };
  std::optional<CallerPlace> caller(uint32_t index) const;
  // Nodes of paths below this number are there.
  uint32_t pathCount() const;
  // Those from `first` on, at most `most`, into `to`; fewer where the arena is damaged.
  void readPaths(uint32_t first, uint32_t most, std::vector<PathEntry> &to) const;
  uint32_t pathsRefused() const;
  uint64_t droppedNoRing() const;
  uint32_t definitionsRefused() const;
  // Of memory that the file takes.
  uint64_t memoryBytes() const;
  // It has called exec.
  bool hasLeft() const;
  // The program has installed a seccomp filter.
  bool isSandboxed() const;
  // When the process said that it exits (CLOCK_MONOTONIC); 0 = it did not, or not yet.
  uint64_t exitNs() const;

  // Whether the process waits to be read; what it says of the thread that waits is there then.
  struct Waiting {
    uint32_t tid;
    uint64_t since_ns, stack, thread_pointer;
    bool at_exit;
  };
  std::optional<Waiting> waiting() const;
  // Begins to read it. False: it gave up meanwhile.
  bool beginReading();
  // Whether it still waits for the end of that.
  bool isReading() const;
  // It goes on.
  void endReading();
  // The image of which the process wants to know where the watched line is; 0 = none.
  uint32_t askedImage() const;
  // It goes on. What there is no room for is left out.
  void answerImage(const std::vector<abi::WatchRange> &);
  // Blocks that the collector tells the process.
  abi::LargeBlocks *largeBlocks() { return &header()->large_blocks; }
  // Where the runtime keeps what it knows of a thread.
  OwnStorage ownStorage() const;

private:
  bool moveWait(abi::ReachWait from, abi::ReachWait to);
  abi::ArenaHeader *header() const { return mapping_.at<abi::ArenaHeader>(0); }
  abi::RingEntry *entries() const { return mapping_.at<abi::RingEntry>(rings_offset_); }

  std::filesystem::path path_;
  FileDescriptor file_;
  Mapping mapping_;
  ArenaFacts facts_;
  uint64_t rings_offset_ = 0, callers_offset_ = 0, path_blocks_offset_ = 0;
  uint32_t max_rings_ = 0, max_callers_ = 0;
};

} // namespace msleaks::analysis::inline reach
