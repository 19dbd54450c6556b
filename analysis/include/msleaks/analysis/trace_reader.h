// Reads a trace (docs/trace-format.md), whole or damaged, in bounded memory.
#pragma once

#include "msleaks/abi/events.h"
#include "msleaks/analysis/result.h"
#include "msleaks/analysis/trace_writer.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace msleaks::analysis {

// One event in the merged order, with the stream it came from. header().time is CLOCK_MONOTONIC in ns.
struct StreamEvent {
  uint32_t process;
  uint32_t stream;
  abi::AnyEvent event;
};

class TraceReader {
public:
  // Opens and indexes the trace: from its index chunk, or by walking the chunk headers when there is none. Damage (a
  // cut end, a chunk whose checksum is wrong) is skipped and listed in damage(), one line each; only a file that is not
  // a trace, or of a newer version, fails.
  static Result<TraceReader> open(const std::filesystem::path &file);
  TraceReader(TraceReader &&) noexcept;
  TraceReader &operator=(TraceReader &&) noexcept;
  ~TraceReader();

  const std::vector<ProcessStart> &processes() const;
  const std::vector<ProcessEnd> &processEnds() const;
  const std::vector<StreamAccount> &streams() const; // latest account of each
  const std::vector<std::string> &damage() const;
  uint64_t eventCount() const; // stored events, from the index
  bool closed() const;         // the trailer is there: the session ended in order

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
  Result<void> forEachPaths(const std::function<void(uint32_t, std::span<const PathEntry>)> &f) const;

  // Every event of [begin_ns, end_ns), merged over all streams by time, order within a stream kept. Memory: one decoded
  // chunk per stream that overlaps the current moment. f returns false to stop. Returns the number of events given.
  template <class F> Result<uint64_t> forEachEvent(F &&f, uint64_t begin_ns = 0, uint64_t end_ns = UINT64_MAX) const {
    uint64_t given = 0;
    const Result<void> merged = mergeEvents(
        [&](std::span<const StreamEvent> batch) {
          for (const StreamEvent &event : batch) {
            ++given;
            if (!f(event))
              return false;
          }
          return true;
        },
        begin_ns, end_ns);
    if (!merged)
      return tl::make_unexpected(merged.error());
    return given;
  }

private:
  // Hands out the merged order in batches, so that the call through std::function costs nothing per event.
  Result<void> mergeEvents(const std::function<bool(std::span<const StreamEvent>)> &, uint64_t begin_ns,
                           uint64_t end_ns) const;
  struct State;
  explicit TraceReader(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

} // namespace msleaks::analysis
