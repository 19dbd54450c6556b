#include "analysis/trace/read_ahead.h"

#include "analysis/base/machine.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace msleaks::analysis::inline trace {

bool ReadAhead::worthwhile() {
  static const bool several = usableProcessors() > 1;
  return several;
}

ReadAhead::~ReadAhead() {
  {
    const std::scoped_lock held(lock_);
    stopped_ = true;
  }
  has_free_.notify_one();
  if (thread_.joinable())
    thread_.join();
}

// Returns false if the system allows no thread.
bool ReadAhead::start() {
  try {
    for (Batch &batch : batches_)
      batch.events = std::make_unique_for_overwrite<StreamEvent[]>(kBatchEvents);
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error &) {
    inline_only_ = true;
  }
  return !inline_only_;
}

void ReadAhead::run() noexcept {
  std::exception_ptr failure;
  Batch *batch = waitForFree();
  try {
    while (batch && fill(*batch)) {
      publish();
      batch = waitForFree();
    }
  } catch (...) {
    failure = std::current_exception();
  }
  if (batch && batch->count > 0)
    publish();
  const std::scoped_lock held(lock_);
  failure_ = failure;
  ended_ = true;
  has_full_.notify_one();
}

// Returns false at the end of the source. The batch is then not full.
bool ReadAhead::fill(Batch &batch) {
  while (batch.count < kBatchEvents) {
    if (rest_.empty() && (rest_ = source_->next()).empty())
      return false;
    const size_t count = std::min(rest_.size(), kBatchEvents - batch.count);
    std::copy_n(rest_.begin(), count, &batch.events[batch.count]);
    batch.count += count;
    rest_ = rest_.subspan(count);
  }
  return true;
}

// Waits for a free batch to fill. Returns null if the user needs no more events.
ReadAhead::Batch *ReadAhead::waitForFree() {
  std::unique_lock held(lock_);
  has_free_.wait(held, [this] { return stopped_ || filled_ - used_ < kBatches; });
  if (stopped_)
    return nullptr;
  Batch &batch = batches_[filled_ % kBatches];
  batch.count = 0;
  return &batch;
}

void ReadAhead::publish() {
  const std::scoped_lock held(lock_);
  if (filled_++ == used_ + (in_use_ ? 1 : 0))
    has_full_.notify_one();
}

std::span<const StreamEvent> ReadAhead::next() {
  if (!thread_.joinable() && (inline_only_ || given_ < kEventsBefore || !start())) {
    const auto events = source_->next();
    given_ += events.size();
    return events;
  }
  std::unique_lock held(lock_);
  if (std::exchange(in_use_, false)) {
    ++used_;
    // Wakes the thread only when half of the batches are free, because each wake costs both threads some µs.
    if (filled_ - used_ == kBatches / 2)
      has_free_.notify_one();
  }
  has_full_.wait(held, [this] { return ended_ || filled_ > used_; });
  if (filled_ > used_) {
    in_use_ = true;
    const Batch &batch = batches_[used_ % kBatches];
    return {batch.events.get(), batch.count};
  }
  if (failure_)
    std::rethrow_exception(std::exchange(failure_, nullptr));
  return {};
}

} // namespace msleaks::analysis::inline trace
