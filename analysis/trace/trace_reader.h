// Reads a trace (docs/trace-format.md), even a damaged one, in bounded memory.
#pragma once

#include "analysis/base/result.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/index_root.h"
#include "analysis/trace/pointers.h"
#include "analysis/trace/trace_writer.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace msleaks::analysis::inline trace {

// The thread that unpacks, decodes and merges chunks.
enum class Reading {
  Inline, // the caller's thread, when it asks for events
  Ahead,  // a second thread, if a processor is free and there are many events
};

// The state after the first `events` events, which are all events until `time_ns`. LiveSet::save wrote `state`.
struct Checkpoint {
  uint64_t time_ns = 0, events = 0;
  std::vector<uint8_t> state;
};

// Several threads may call const functions at the same time.
class TraceReader {
public:
  // Opens the trace by the root of its index. If there is no index, walks through the headers of the chunks. Skips
  // damage (a cut end, a chunk with a wrong checksum), and lists it in damage(), one line each. Fails only if the file
  // is no trace, or if a newer version wrote it.
  static Result<TraceReader> open(const std::filesystem::path &file);
  TraceReader(TraceReader &&) noexcept;
  TraceReader &operator=(TraceReader &&) noexcept;
  ~TraceReader();

  const std::vector<ProcessStart> &processes() const;
  const std::vector<ProcessEnd> &processEnds() const;
  std::vector<std::string> damage() const; // the damage that was found so far
  uint64_t eventCount() const;             // stored events, from the index
  bool closed() const;                     // whether there is a trailer: the session ended in order

  // Calls f with the latest account of each stream, in no particular order. Reads the accounts at each call, since a
  // server may have had a million threads.
  void forEachAccount(const std::function<void(const StreamAccount &)> &f) const;

  // The position up to which a stream is stored. Recovery continues from there. 0 for an unknown stream.
  uint64_t storedUntil(uint32_t process, uint32_t stream) const;
  // The number of stored events of a stream, each counted once. Includes events in chunks that can no longer be read.
  uint64_t storedEvents(uint32_t process, uint32_t stream) const;
  // The size of the stored part of a process' .defs file. Includes parts in chunks that can no longer be read.
  uint64_t definitionBytes(uint32_t process) const;

  // Calls f(process, records) for each chunk of definitions, in file order. The other functions do the same for chunks
  // of callers, names, samples and paths.
  Result<void> forEachDefinitions(const std::function<void(uint32_t, std::span<const std::byte>)> &f) const;
  Result<void> forEachCallers(const std::function<void(uint32_t, std::span<const TraceWriter::CallerEntry>)> &f) const;
  Result<void> forEachNames(const std::function<void(const ImageNames &)> &f) const;
  Result<void> forEachResident(const std::function<void(std::span<const ResidentSample>)> &f) const;
  Result<void> forEachSharing(const std::function<void(std::span<const SharingSample>)> &f) const;
  // Calls f with each map of pointers that can be read, and its pointers.
  Result<void> forEachPointedMemory(const std::function<void(std::shared_ptr<const PointedMemory>)> &f) const;
  // The same without reading them: calls f with each map's time, and with a function that reads it on demand.
  Result<void> forEachPointedPlace(const std::function<void(uint64_t time_ns, ReadPointed)> &f) const;
  Result<void> forEachPaths(const std::function<void(uint32_t, std::span<const PathEntry>)> &f) const;

  // The checkpoints, by time, where an analysis can begin. There are none if the session did not end in order.
  const std::vector<CheckpointPlace> &checkpoints() const;
  // If this fails, use an earlier checkpoint, or all events: the result is the same.
  Result<Checkpoint> checkpoint(const CheckpointPlace &) const;

  // Returns the events of a window, merged over all streams by time; events of a stream keep their order. Needs memory
  // for one decoded chunk of each stream, and for the leaves of the index, that overlap the present moment.
  EventCursor events(const TimeWindow &window = {}, Reading reading = Reading::Inline) const;

  // Calls f with each event. f returns false to stop. Returns the number of events for which f was called.
  template <class F> Result<uint64_t> forEachEvent(F &&f, uint64_t begin_ns = 0, uint64_t end_ns = UINT64_MAX) const {
    return forEachEvent(events({begin_ns, end_ns}), f);
  }
  template <class F> Result<uint64_t> forEachEvent(Reading reading, F &&f, const TimeWindow &window = {}) const {
    return forEachEvent(events(window, reading), f);
  }

private:
  template <class F> static uint64_t forEachEvent(EventCursor cursor, F &f) {
    uint64_t given = 0;
    for (auto batch = cursor.next(); !batch.empty(); batch = cursor.next())
      for (const StreamEvent &event : batch) {
        ++given;
        if (!f(event))
          return given;
      }
    return given;
  }
  struct State;
  explicit TraceReader(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

} // namespace msleaks::analysis::inline trace
