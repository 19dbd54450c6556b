// Reads a trace while it is written. Returns the new events in the order of time, as soon as no earlier event can be
// added any more.
#pragma once

#include "analysis/base/result.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/pointers.h"
#include "analysis/trace/trace_writer.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace msleaks::analysis::inline trace {

// Receives records in the order of the file: the meaning of an event comes before the event. Any function may be empty.
struct TraceListener {
  std::function<void(const ProcessStart &)> start;
  std::function<void(const ProcessEnd &)> end;
  std::function<void(const StreamAccount &)> account;
  std::function<void(uint32_t process, std::span<const std::byte>)> definitions;
  std::function<void(uint32_t process, std::span<const TraceWriter::CallerEntry>)> callers;
  std::function<void(uint32_t process, std::span<const PathEntry>)> paths;
  std::function<void(std::shared_ptr<const PointedMemory>)> pointed_memory;
};

// Which events a follower reads.
enum class FollowedEvents : uint8_t {
  All,
  None, // skips events: the user needs only their meanings, and the starts and ends of processes
};

class TraceFollower {
public:
  // The file must exist. It may still be empty.
  static Result<TraceFollower> open(const std::filesystem::path &file, TraceListener listener = {},
                                    FollowedEvents events = FollowedEvents::All);
  TraceFollower(TraceFollower &&) noexcept;
  TraceFollower &operator=(TraceFollower &&) noexcept;
  ~TraceFollower();

  // Returns the next events, each once, merged as in TraceReader and valid until the next call. Empty means that no
  // more events are complete now: ask again later. An event may be late, for example of a process that attached late or
  // of a thread that was stopped while it recorded. Its time is then raised to the time of the merge.
  //
  // Fails if the file was removed, replaced or truncated. After that, all later calls fail, too.
  Result<std::span<const StreamEvent>> next();

  // All events before this time are complete in the part of the file that was read.
  uint64_t completeUntil() const;
  // Whether the file ended with a trailer at the last look. Then its session has ended, and no more events are added.
  bool closed() const;
  // The number of chunks with events that came too late.
  uint64_t lateChunks() const;
  // No process writes any more: next() also returns events that no mark has completed.
  void takeRest();
  std::vector<std::string> damage() const; // the damage that was found so far

private:
  struct State;
  explicit TraceFollower(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

} // namespace msleaks::analysis::inline trace
