// Sums of the live blocks, by cohort: now, at the peak, and at the moment from which growth counts. An event costs a
// few additions. Cohorts are grouped only when a frame is made.
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

  // From now on, growth counts from this moment. At first it counts from the beginning of the run, when nothing was
  // alive.
  void setMoment(uint64_t time_ns);
  uint64_t momentNs() const { return moment_ns_; }

  // Returns the sums by cohort, without cohorts that never had a block.
  std::vector<PlaceSum> sums(const Cohorts &) const;
  // Returns the sum of the physical heaps of all processes.
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
