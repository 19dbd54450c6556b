// Reads a trace while it is written: what is added to the file, in the order of time, as soon as nothing earlier can
// come any more.
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

// Told as it is found in the file: what an event means is told before the event. Any may be left out.
struct TraceListener {
  std::function<void(const ProcessStart &)> start;
  std::function<void(const ProcessEnd &)> end;
  std::function<void(const StreamAccount &)> account;
  std::function<void(uint32_t process, std::span<const std::byte>)> definitions;
  std::function<void(uint32_t process, std::span<const TraceWriter::CallerEntry>)> callers;
  std::function<void(uint32_t process, std::span<const PathEntry>)> paths;
  std::function<void(std::shared_ptr<const PointedMemory>)> pointed_memory;
};

// The events that a follower reads.
enum class FollowedEvents : uint8_t {
  All,
  None, // they are passed over: who follows wants to know what they mean, and who began and ended
};

class TraceFollower {
public:
  // The file must be there; it may still be empty.
  static Result<TraceFollower> open(const std::filesystem::path &file, TraceListener listener = {},
                                    FollowedEvents events = FollowedEvents::All);
  TraceFollower(TraceFollower &&) noexcept;
  TraceFollower &operator=(TraceFollower &&) noexcept;
  ~TraceFollower();

  // The next events, each once, merged as TraceReader does; valid until the next call. Empty: no more are complete now,
  // ask again later. An event may come too late, of a process that attached late or of a thread that was stopped in the
  // middle of a record. It gets the time that the others have reached.
  //
  // Fails when the file was removed, replaced or cut short, and every time after that.
  Result<std::span<const StreamEvent>> next();

  // Events before this time are complete, as far as the file was read.
  uint64_t completeUntil() const;
  // The file ended with a trailer when it was looked at last: its session ended, and all events come.
  bool closed() const;
  // Chunks with events that came too late.
  uint64_t lateChunks() const;
  // Nobody writes any more: what is there comes, complete or not.
  void takeRest();
  std::vector<std::string> damage() const; // found until now

private:
  struct State;
  explicit TraceFollower(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

} // namespace msleaks::analysis::inline trace
