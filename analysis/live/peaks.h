// The highest points of the memory in use, computed once for all analyzers. There is one for all physical heaps
// together, for each heap, for each account and for each process.
#pragma once

#include "analysis/base/tables.h"
#include "analysis/live/account.h"
#include "analysis/live/at_peak.h"
#include "analysis/live/cohort_sums.h"
#include "analysis/live/live_set.h"

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline live {

// The bytes of one sum: now, and at its highest point. Also the time when it first reached this point.
class PeakClock {
public:
  void add(uint64_t bytes, uint64_t time_ns) {
    now_bytes_ += bytes;
    if (now_bytes_ > bytes_) {
      bytes_ = now_bytes_;
      time_ns_ = time_ns;
      ++number_;
    }
  }
  void remove(uint64_t bytes) { now_bytes_ -= bytes; }

  uint64_t nowBytes() const { return now_bytes_; }
  uint64_t bytes() const { return bytes_; }
  uint64_t timeNs() const { return time_ns_; } // CLOCK_MONOTONIC
  // The number of peaks so far, each higher than the one before. AtPeak and PartMap need it.
  uint64_t number() const { return number_; }

private:
  uint64_t now_bytes_ = 0, bytes_ = 0, time_ns_ = 0, number_ = 0;
};

// A clock, and the bytes of each cohort at the peak. The time for an event does not depend on the number of cohorts. A
// cohort copies its sum only when it changes for the first time after a peak.
class PeakTracker {
public:
  void add(CohortId cohort, uint64_t bytes, uint64_t time_ns) {
    elementAt(sums_, cohort.index).touch(clock_.number()) += {bytes, 1};
    clock_.add(bytes, time_ns);
  }
  void remove(CohortId cohort, uint64_t bytes) {
    take(elementAt(sums_, cohort.index).touch(clock_.number()), bytes);
    clock_.remove(bytes);
  }
  // A block that was added at `since_ns` belongs to another cohort, and has done so from then on. This also changes the
  // peak, if the block was alive there.
  void move(CohortId from, CohortId to, uint64_t bytes, uint64_t since_ns);

  const PeakClock &clock() const { return clock_; }
  // The blocks that were alive at the peak, ascending by cohort.
  std::vector<CohortShare> shares() const;
  // Calls f(cohort, sum now, sum at the peak) for each cohort that ever had memory.
  template <class F> void forEach(F &&f) const {
    for (uint32_t index = 1; index < sums_.size(); ++index) {
      const BlockSum &now = sums_[index].now(), &then = sums_[index].then(clock_.number());
      if (now.count != 0 || then.count != 0)
        f(CohortId{index}, now, then);
    }
  }

private:
  static void take(BlockSum &from, uint64_t bytes) {
    from.bytes -= bytes;
    --from.count;
  }

  PeakClock clock_;
  std::vector<AtPeak<BlockSum>> sums_; // by cohort
};

// Counts blocks that have memory of their own. It receives each birth after the analyzers. So an analyzer still sees
// the peak before the birth, and can store its own value there (AtPeak).
class Peaks final : public BlockObserver {
public:
  void onAlloc(const Block &, AllocCause, uint64_t time_ns) override;
  void onFree(const Block &, FreeCause, uint64_t time_ns) override;
  void onRetarget(const Block &, const Block &before, uint64_t time_ns) override;

  // For all physical heaps of all processes; for one heap on all devices; for one heap on one device.
  const PeakTracker &physical() const { return physical_; }
  const PeakTracker &of(abi::Heap heap) const { return heaps_[static_cast<size_t>(heap)]; }
  const PeakTracker &of(const Account &account) const {
    const std::vector<PeakTracker> &devices = devices_[static_cast<size_t>(account.heap)];
    if (devices.empty() && account.device == 0)
      return of(account.heap);
    return account.device < devices.size() ? devices[account.device] : none_;
  }
  // Calls f(account, tracker) for each account that ever had memory, in ascending order.
  template <class F> void forEachAccount(F &&f) const {
    for (size_t heap = 0; heap < heaps_.size(); ++heap)
      for (size_t device = 0; device < std::max<size_t>(devices_[heap].size(), 1); ++device) {
        const Account account{static_cast<abi::Heap>(heap), static_cast<uint8_t>(device)};
        if (of(account).clock().bytes() != 0)
          f(account, of(account));
      }
  }
  // The physical heaps of each process that ever had memory, by the process' number.
  const std::unordered_map<uint32_t, PeakClock> &processes() const { return processes_; }

private:
  static constexpr size_t kHeaps = static_cast<size_t>(abi::Heap::Count);

  static bool counts(const Block &block) { return !block.reserve; }
  PeakTracker *trackerOfDevice(const Block &);
  PeakClock &clockOf(uint32_t process) {
    if (!last_clock_ || last_process_ != process) {
      last_clock_ = &processes_[process];
      last_process_ = process;
    }
    return *last_clock_;
  }

  PeakTracker physical_;
  std::array<PeakTracker, kHeaps> heaps_;
  std::array<std::vector<PeakTracker>, kHeaps> devices_; // by device; empty: all blocks of the heap are on device 0
  PeakTracker none_;
  std::unordered_map<uint32_t, PeakClock> processes_;
  PeakClock *last_clock_ = nullptr; // elements of an unordered_map do not move
  uint32_t last_process_ = 0;
};

} // namespace msleaks::analysis::inline live
