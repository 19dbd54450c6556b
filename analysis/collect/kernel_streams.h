// Stores kernel evidence in the trace: one stream of the session's own process for each source (docs/kernel.md).
#pragma once

#include "analysis/base/result.h"
#include "analysis/trace/trace_writer.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline collect {

// Where the evidence comes from. The collector's thread calls these functions.
class KernelEvents {
public:
  virtual ~KernelEvents() = default;
  virtual size_t streams() const = 0;
  virtual std::string_view nameOf(size_t stream) const = 0;
  // Becomes readable when much is waiting. -1 = never.
  virtual int wakeDescriptor(size_t stream) const = 0;
  // Appends the whole events that are waiting. Their times are CLOCK_MONOTONIC.
  virtual void take(size_t stream, std::vector<abi::Slot> &) = 0;
  // Nothing happens after this call. take() then returns the rest.
  virtual void stop() = 0;
};

class KernelStreams {
public:
  // The number of the first stream. Stream 0 of the session's process has the Epoch events.
  static constexpr uint32_t kFirstStream = 1;

  explicit KernelStreams(KernelEvents &);
  // Reads what is waiting, so that the kernel has room again.
  void read();
  // Reads, and stores the events: all of them, or only if there are enough for a chunk that compresses well. Returns
  // the number of stored events.
  Result<uint64_t> drain(TraceWriter &, bool everything, uint64_t now_ns);
  // Stops the source, and stores the rest and the accounts.
  Result<void> finish(TraceWriter &);
  // Returns a time. All events before it are stored, or come from a processor that was interrupted unusually long.
  uint64_t completeUntil(uint64_t now_ns) const;
  uint64_t stored() const;

private:
  struct Stream {
    std::vector<abi::Slot> waiting;
    uint64_t waiting_since_ns = 0; // the earliest time of a waiting event, or when it was read; 0 = none waits
    uint64_t position = 0, events = 0;
  };
  void read(size_t stream, uint64_t now_ns);
  Result<uint64_t> store(size_t stream, TraceWriter &);

  KernelEvents &source_;
  std::vector<Stream> streams_;
};

} // namespace msleaks::analysis::inline collect
