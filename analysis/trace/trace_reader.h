// Reads a trace (docs/trace-format.md), whole or damaged, in bounded memory.
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

// On whose time chunks are unpacked, decoded and merged.
enum class Reading {
  Inline, // the caller's, when it asks for events
  Ahead,  // a second thread's, where there is a processor for it and more than a few events
};

// The state after all events until `time_ns`, which are `events`. `state`: LiveSet::save.
struct Checkpoint {
  uint64_t time_ns = 0, events = 0;
  std::vector<uint8_t> state;
};

// What is const may be called from several threads at once.
class TraceReader {
public:
  // Opens the trace: by the root of its index, or by walking the chunk headers when there is none. Damage (a cut end, a
  // chunk whose checksum is wrong) is skipped and listed in damage(), one line each. Only a file that is no trace, or
  // of a newer version, fails.
  static Result<TraceReader> open(const std::filesystem::path &file);
  TraceReader(TraceReader &&) noexcept;
  TraceReader &operator=(TraceReader &&) noexcept;
  ~TraceReader();

  const std::vector<ProcessStart> &processes() const;
  const std::vector<ProcessEnd> &processEnds() const;
  std::vector<std::string> damage() const; // found until now
  uint64_t eventCount() const;             // stored events, from the index
  bool closed() const;                     // the trailer is there: the session ended in order

  // Calls f with the latest account of each stream, in no order. They are read each time: a server may have had a
  // million threads.
  void forEachAccount(const std::function<void(const StreamAccount &)> &f) const;

  // Position up to which a stream is stored; recovery continues from there. 0 for an unknown stream.
  uint64_t storedUntil(uint32_t process, uint32_t stream) const;
  // Events of a stream that are stored, each counted once; also those in chunks that cannot be read any more.
  uint64_t storedEvents(uint32_t process, uint32_t stream) const;
  // Bytes of a process' .defs file that are stored; also those in chunks that cannot be read any more.
  uint64_t definitionBytes(uint32_t process) const;

  // Calls f(process, records) for each definitions chunk, and the others for each chunk of callers and of paths, in
  // file order.
  Result<void> forEachDefinitions(const std::function<void(uint32_t, std::span<const std::byte>)> &f) const;
  Result<void> forEachCallers(const std::function<void(uint32_t, std::span<const TraceWriter::CallerEntry>)> &f) const;
  Result<void> forEachNames(const std::function<void(const ImageNames &)> &f) const;
  Result<void> forEachResident(const std::function<void(std::span<const ResidentSample>)> &f) const;
  // Those that are whole, with their pointers.
  Result<void> forEachPointedMemory(const std::function<void(std::shared_ptr<const PointedMemory>)> &f) const;
  // The same without reading them: calls f with the time of each, and with what reads it while the reader lives.
  Result<void> forEachPointedPlace(const std::function<void(uint64_t time_ns, ReadPointed)> &f) const;
  Result<void> forEachPaths(const std::function<void(uint32_t, std::span<const PathEntry>)> &f) const;

  // Where a reader can begin, by time; none in a trace that ended otherwise than in order.
  const std::vector<CheckpointPlace> &checkpoints() const;
  // Fails when it cannot be read: an earlier one, or all events, say the same.
  Result<Checkpoint> checkpoint(const CheckpointPlace &) const;

  // The events of a window, merged over all streams by time, order within a stream kept. Memory: one decoded chunk for
  // each stream that overlaps the current moment, and the leaves of the index that do.
  EventCursor events(const TimeWindow &window = {}, Reading reading = Reading::Inline) const;

  // Calls f with each of them. f returns false to stop. Returns the number of events given.
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
