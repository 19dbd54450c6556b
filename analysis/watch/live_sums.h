// What is alive, by cohort: now, at the peak, and at the moment that growth counts from. A few additions an event; all
// grouping waits until somebody looks.
#pragma once

#include "analysis/live/peaks.h"
#include "analysis/stream/analyzer.h"
#include "analysis/watch/session_sums.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline watch {

class LiveSums final : public Analyzer {
public:
  std::string_view name() const override { return "alive"; }
  bool usePeaks(const Peaks &peaks) override {
    peaks_ = &peaks;
    return true;
  }
  void onAlloc(const Block &, AllocCause, uint64_t time_ns) override;
  void onFree(const Block &, FreeCause, uint64_t time_ns) override;
  void onRetarget(const Block &, const Block &before, uint64_t time_ns) override;

  // Growth counts from here on; at first it counts from the beginning, when nothing was alive.
  void setMoment(uint64_t time_ns);
  uint64_t momentNs() const { return moment_ns_; }

  // By cohort, of those that ever had something.
  std::vector<PlaceSum> sums(const Cohorts &) const;
  // The physical heaps of all processes together.
  BlockSum alive() const { return alive_; }
  uint64_t peakBytes() const { return peaks_->physical().clock().bytes(); }
  uint64_t peakTimeNs() const { return peaks_->physical().clock().timeNs(); }

private:
  const Peaks *peaks_ = nullptr;
  std::vector<BlockSum> now_, at_moment_;
  BlockSum alive_;
  uint64_t moment_ns_ = 0;
};

} // namespace msleaks::analysis::inline watch
