// Reads a source of events on a thread of its own, some batches ahead of who uses them: unpacking, decoding and merging
// then cost no time on the user's thread.
//
//   source ─► thread: copies into a free batch ─► full batches, in order ─► next() ─► free batches
//
// Few events are not worth a thread: it is started when the first ones have been used.
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
  // The thread stops after the batch that it is at.
  ~ReadAhead() override;

  // What the source throws is thrown here, behind the events that came before it.
  std::span<const StreamEvent> next() override;

  // Whether there is a second processor for the thread.
  static bool worthwhile();

private:
  static constexpr size_t kBatches = 8, kBatchEvents = 2048; // 1.2 MiB together
  static constexpr uint64_t kEventsBefore = 65536;           // the thread is started

  // Only the thread touches a batch that is free or being filled, only the user one that is full or in use.
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
  std::span<const StreamEvent> rest_; // of its last answer, not yet copied
  uint64_t given_ = 0;                // before the thread was started
  bool inline_only_ = false;

  std::thread thread_;
  std::array<Batch, kBatches> batches_;
  std::mutex lock_; // of all below
  std::condition_variable has_full_, has_free_;
  uint64_t filled_ = 0, used_ = 0; // batches; those between are full, the first of them may be in use
  bool in_use_ = false;
  bool ended_ = false, stopped_ = false;
  std::exception_ptr failure_;
};

} // namespace msleaks::analysis::inline trace
