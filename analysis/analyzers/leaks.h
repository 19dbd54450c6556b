// Leaks: what is alive when its process has ended (docs/report.md).
#pragma once

#include "analysis/live/cohort_sums.h"
#include "analysis/live/pauses.h"
#include "analysis/stream/analyzer.h"

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis {

struct LeakResult {
  std::vector<CohortRemains> leaked; // ascending; its process exited
  std::vector<CohortRemains> alive;  // the same; its process was killed, or goes on
  std::vector<CohortRemains> unsure; // its process exited; its free may lie in a pause of the recording
};

// Sum over the physical heaps; pools hand out parts of blocks that are counted already.
BlockSum physicalSum(const std::vector<CohortRemains> &);

class LeakAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "leaks"; }
  uint32_t eventKinds() const override { return abi::enabledBit(abi::EventKind::Epoch); }
  void onEvent(const StreamEvent &, SiteId) override;
  void onFree(const Block &, FreeCause, uint64_t time_ns) override;
  void conclude(Conclusion &) const override;
  LeakResult result() const;

private:
  using ByCohort = std::unordered_map<uint32_t, CohortRemains>;
  ByCohort leaked_, alive_, unsure_;
  std::vector<Added> births_; // of leaked blocks
  Pauses pauses_;
};

} // namespace msleaks::analysis
