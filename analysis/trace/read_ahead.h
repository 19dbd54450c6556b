// Reads a source of events in a thread of its own, some batches ahead of the user. So unpacking, decoding and merging
// take no time of the user's thread.
//
//   source ─► thread: copies into a free batch ─► full batches, in order ─► next() ─► free batches
//
// A thread is not worth its cost for few events, so it starts only after the first kEventsBefore events.
#pragma once

#include "analysis/trace/event_source.h"

#include <array>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

namespace msleaks::analysis::inline trace {

class ReadAhead final : public EventSource {
public:
  explicit ReadAhead(std::unique_ptr<EventSource> source) : source_(std::move(source)) {}
  // Stops the thread after its present batch.
  ~ReadAhead() override;

  // If the source throws an exception, throws it here, after the events that came before the exception.
  std::span<const StreamEvent> next() override;

  // Whether a second processor is free for the thread.
  static bool worthwhile();

private:
  static constexpr size_t kBatches = 8, kBatchEvents = 2048; // 1.2 MiB in all
  static constexpr uint64_t kEventsBefore = 65536;           // the thread starts after these

  // Only the thread touches a batch that is free or being filled. Only the user touches a batch that is full or in use.
  struct Batch {
    std::unique_ptr<StreamEvent[]> events;
    size_t count = 0;
  };

  bool start();
  void run() noexcept;
  bool fill(Batch &batch);
  Batch *waitForFree();
  void publish();

  std::unique_ptr<EventSource> source_;
  std::span<const StreamEvent> rest_; // of the source's last answer, not yet copied
  uint64_t given_ = 0;                // events returned before the thread started
  bool inline_only_ = false;

  std::thread thread_;
  std::array<Batch, kBatches> batches_;
  std::mutex lock_; // guards all members below
  std::condition_variable has_full_, has_free_;
  uint64_t filled_ = 0, used_ = 0; // counts of batches: those between are full, or the first is in use
  bool in_use_ = false;
  bool ended_ = false, stopped_ = false;
  std::exception_ptr failure_;
};

} // namespace msleaks::analysis::inline trace
