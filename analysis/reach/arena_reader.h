// The collector's side of a process' shared memory (abi/session.h). The content is not trusted: every offset, size and
// capacity is copied, and the copy is checked against the file before it is used.
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

// The counts that a thread keeps of its stream; see RingHeader.
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

  // The position up to which slots were taken. The reader keeps its own number, and the shared tail follows this
  // number.
  uint64_t position() const { return position_; }
  void moveTo(uint64_t position);

  // The position up to which slots are published. If it is less than position(), there is nothing new (a signal handler
  // is at work).
  uint64_t head() const;
  // The position up to which slots are reserved. Slots that lie more than the capacity below it may be overwritten.
  uint64_t reserved() const;
  uint64_t depth() const;
  RingAccount account() const;

  // Copies the slots [from, from + out.size()). The caller must know that they are published.
  void copy(uint64_t from, std::span<abi::Slot> out) const;

private:
  abi::RingHeader *header() const { return mapping_.at<abi::RingHeader>(0); }

  Mapping mapping_;
  uint32_t stream_ = 0, tid_ = 0;
  std::string thread_name_;
  uint64_t capacity_ = 0, first_position_ = 0, position_ = 0;
};

struct ArenaFacts {
  uint32_t pid = 0, parent_pid = 0; // in the pid namespace of the process
  uint64_t pid_namespace = 0;       // 0 = not known
  uint64_t process_birth = 0;       // 0 = not known; see abi::isOtherProcess
  uint32_t exec_id = 0;             // 0 = not known
  Ancestor ancestor;
  uint32_t page_bytes = 0; // as the process reports it
  abi::ClockKind clock{};
  uint64_t attach_ticks = 0, attach_ns = 0, attach_realtime_ns = 0;
  std::vector<std::string> command;
};

// The memory of the runtime in the process: for each thread, and for the whole process.
struct OwnStorage {
  int64_t offset = 0;      // distance from the thread pointer
  uint64_t bytes = 0;      // size of a thread's storage; 0 = not known
  uint64_t call_state = 0; // offset of abi::CallState in this storage
  uint64_t memory = 0;     // address of a pointer to the first abi::OwnMemory; 0 = not known

  uint64_t of(uint64_t thread_pointer) const { return thread_pointer + static_cast<uint64_t>(offset); }
};

class ArenaReader {
public:
  // Nothing: the process is still creating the arena, or the collector has too many open files. An error: the arena
  // will never be usable.
  static Result<std::optional<ArenaReader>> open(const std::filesystem::path &file);

  const std::filesystem::path &path() const { return path_; }
  const ArenaFacts &facts() const { return facts_; }

  uint32_t ringCount() const;
  abi::RingState ringState(uint32_t index) const;
  Result<RingReader> openRing(uint32_t index) const;
  void markDrained(uint32_t index);

  // The code of a caller. caller() returns nothing if there is no such caller.
  struct CallerPlace {
    uint64_t address;
    uint32_t image;
  };
  std::optional<CallerPlace> caller(uint32_t index) const;
  // Nodes of paths with smaller numbers exist.
  uint32_t pathCount() const;
  // Reads at most `most` nodes from `first` on into `to`. Reads fewer if the arena is damaged.
  void readPaths(uint32_t first, uint32_t most, std::vector<PathEntry> &to) const;
  uint32_t pathsRefused() const;
  uint64_t droppedNoRing() const;
  uint32_t definitionsRefused() const;
  // Returns how much memory the file uses.
  uint64_t memoryBytes() const;
  // Whether the process has called exec.
  bool hasLeft() const;
  // Whether the program has installed a seccomp filter.
  bool isSandboxed() const;
  // When the process reported its exit (CLOCK_MONOTONIC); 0 = it has not reported it.
  uint64_t exitNs() const;

  // Whether the process waits to be read. If so, the process has stored these facts about the waiting thread.
  struct Waiting {
    uint32_t tid;
    uint64_t since_ns, stack, thread_pointer;
    bool at_exit;
  };
  std::optional<Waiting> waiting() const;
  // Begins the reading. False: the process has stopped waiting.
  bool beginReading();
  // Whether the process still waits for the end of the reading.
  bool isReading() const;
  // Lets the process continue.
  void endReading();
  // The image in which the process looks for the watched line; 0 = none.
  uint32_t askedImage() const;
  // Stores the answer and lets the process continue. Ranges for which there is no room are left out.
  void answerImage(const std::vector<abi::WatchRange> &);
  // The blocks about which the collector tells the process; null: the arena has no room for them.
  abi::LargeBlocks *largeBlocks() {
    return large_blocks_offset_ == 0 ? nullptr : mapping_.at<abi::LargeBlocks>(large_blocks_offset_);
  }
  // Where the runtime stores its data about a thread.
  OwnStorage ownStorage() const;

private:
  bool moveWait(abi::ReachWait from, abi::ReachWait to);
  abi::ArenaHeader *header() const { return mapping_.at<abi::ArenaHeader>(0); }
  abi::RingEntry *entries() const { return mapping_.at<abi::RingEntry>(rings_offset_); }

  std::filesystem::path path_;
  FileDescriptor file_;
  Mapping mapping_;
  ArenaFacts facts_;
  uint64_t rings_offset_ = 0, callers_offset_ = 0, path_blocks_offset_ = 0, large_blocks_offset_ = 0;
  uint32_t max_rings_ = 0, max_callers_ = 0;
};

} // namespace msleaks::analysis::inline reach
