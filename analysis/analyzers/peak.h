// Peak: the highest point of the memory in use, and what was alive there (docs/report.md).
#pragma once

#include "analysis/base/element_at.h"
#include "analysis/findings/result.h"
#include "analysis/findings/savings.h"
#include "analysis/stream/analyzer.h"

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis {

// The highest point of one sum.
struct Peak {
  uint64_t bytes = 0;
  uint64_t time_ns = 0;               // CLOCK_MONOTONIC of the event that reached it first
  std::vector<CohortShare> by_cohort; // alive then, ascending, only what was not empty
};

struct PeakResult {
  Peak total; // of the physical heaps of all processes together
  std::array<Peak, static_cast<size_t>(abi::Heap::Count)> by_heap;
  std::map<Account, Peak> by_account;  // each with the blocks of its own device only
  std::vector<ProcessPeak> by_process; // ascending
};

// The highest point of a running sum with what each cohort had then, at a constant cost for an event: a cohort copies
// its counters aside the first time that it changes after a peak, and only then.
class PeakTracker {
public:
  void add(CohortId cohort, uint64_t bytes, uint64_t time_ns) {
    Counter &counter = touch(cohort);
    counter.now.bytes += bytes;
    ++counter.now.count;
    now_bytes_ += bytes;
    if (now_bytes_ > peak_bytes_) {
      peak_bytes_ = now_bytes_;
      peak_time_ns_ = time_ns;
      ++epoch_; // makes every copy stale: the counters as they are now are the ones at the peak
    }
  }
  void remove(CohortId cohort, uint64_t bytes) {
    Counter &counter = touch(cohort);
    counter.now.bytes -= bytes;
    --counter.now.count;
    now_bytes_ -= bytes;
  }
  // A block that was added at `since_ns` belongs to another cohort, and did so from then on: also at the peak, if it
  // was alive there.
  void move(CohortId from, CohortId to, uint64_t bytes, uint64_t since_ns) {
    touch(from);
    touch(to); // may move the counters
    Counter &giver = counters_[from.index], &taker = counters_[to.index];
    move(giver.now, taker.now, bytes);
    const bool at_peak = since_ns <= peak_time_ns_ && giver.at_peak.count != 0 && giver.at_peak.bytes >= bytes;
    if (at_peak)
      move(giver.at_peak, taker.at_peak, bytes);
  }
  Peak peak() const;
  // Calls f(cohort, what it has now, what it had at the peak) for those that ever had something.
  template <class F> void forEach(F &&f) const {
    for (uint32_t index = 1; index < counters_.size(); ++index) {
      const Counter &counter = counters_[index];
      const BlockSum at_peak = counter.epoch == epoch_ ? counter.at_peak : counter.now;
      if (counter.now.count != 0 || at_peak.count != 0)
        f(CohortId{index}, counter.now, at_peak);
    }
  }
  uint64_t nowBytes() const { return now_bytes_; }
  uint64_t peakBytes() const { return peak_bytes_; }
  uint64_t peakTimeNs() const { return peak_time_ns_; }

private:
  static void move(BlockSum &from, BlockSum &to, uint64_t bytes) {
    from.bytes -= bytes;
    --from.count;
    to += {bytes, 1};
  }
  struct Counter {
    BlockSum now, at_peak;
    uint64_t epoch = 0; // at_peak belongs to this peak
  };
  Counter &touch(CohortId cohort) {
    Counter &counter = elementAt(counters_, cohort.index);
    if (counter.epoch != epoch_) {
      counter.at_peak = counter.now;
      counter.epoch = epoch_;
    }
    return counter;
  }

  std::vector<Counter> counters_; // by cohort
  uint64_t now_bytes_ = 0, peak_bytes_ = 0, peak_time_ns_ = 0;
  uint64_t epoch_ = 0;
};

class PeakAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "peak"; }
  void onAlloc(const Block &, AllocCause, uint64_t time_ns) override;
  void onFree(const Block &, FreeCause, uint64_t time_ns) override;
  void onRetarget(const Block &, const Block &before, uint64_t time_ns) override;
  void conclude(Conclusion &) const override;
  PeakResult result() const;
  // The peak of the physical heaps of all processes together, and of one heap.
  const PeakTracker &total() const { return total_; }
  const PeakTracker &of(abi::Heap heap) const { return heaps_[static_cast<size_t>(heap)]; }

private:
  struct ProcessSum {
    uint64_t now_bytes = 0, peak_bytes = 0, peak_time_ns = 0;
  };
  ProcessSum &sumOf(uint32_t process);
  PeakTracker *trackerOfDevice(const Block &);
  static ByteNs byteNs(const Block &, uint64_t until_ns);
  static Section placesByProcess(const Peak &, Conclusion &);
  void findStandingOut(const Peak &, const Account &, Conclusion &) const;

  PeakTracker total_;
  std::array<PeakTracker, static_cast<size_t>(abi::Heap::Count)> heaps_;
  std::map<Account, PeakTracker> devices_; // of heaps that have blocks on a device other than 0
  std::array<bool, static_cast<size_t>(abi::Heap::Count)> has_devices_{}; // whether `devices_` has the heap
  std::vector<ByteNs> byte_ns_;            // by cohort: bytes times lifetime of its blocks
  std::unordered_map<uint32_t, ProcessSum> processes_;
  ProcessSum *last_sum_ = nullptr; // elements of an unordered_map stay where they are
  uint32_t last_process_ = 0;
};

} // namespace msleaks::analysis
