// Leaks: the blocks that are alive when their process ends (docs/report.md).
#pragma once

#include "analysis/findings/savings.h"
#include "analysis/live/cohort_sums.h"
#include "analysis/live/pauses.h"
#include "analysis/live/reachability.h"
#include "analysis/stream/analyzer.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline analyzers {

struct LeakResult {
  std::vector<CohortRemains> leaked; // ascending by cohort; their process exited
  std::vector<CohortRemains> alive;  // their process was killed, or still runs
  std::vector<CohortRemains> unsure; // their process exited, but they may have been freed during a pause
};

// The sum over physical heaps. Blocks of pools are parts of blocks that count already.
BlockSum physicalSum(const std::vector<CohortRemains> &);

// The times and sizes of a cohort's leaked blocks. If there are more than kMost, joins pairs of neighbours, with the
// later time. So a saving is rather too small than too large.
class Births {
public:
  static constexpr size_t kMost = 1 << 16;

  void add(uint64_t time_ns, uint64_t bytes) {
    births_.push_back({time_ns, bytes});
    if (births_.size() >= kMost)
      halve();
  }
  void addTo(Absence &, CohortId) const;
  size_t size() const { return births_.size(); }
  void halve();

private:
  struct Birth {
    uint64_t time_ns, bytes;
  };

  std::vector<Birth> births_;
};

// The births of all cohorts, at most about kMostInAll in all. If there are more, each cohort that has more than a few
// halves its list.
class AllBirths {
public:
  static constexpr size_t kMostInAll = 1 << 20, kFew = 16;

  void add(Reach reach, CohortId cohort, uint64_t time_ns, uint64_t bytes) {
    Births &births = of_[keyOf(reach, cohort)];
    const size_t before = births.size();
    births.add(time_ns, bytes);
    count_ += births.size() - before; // may decrease: add() may have halved the list
    if (count_ >= most_)
      halve();
  }
  void addTo(Absence &absence, Reach reach, CohortId cohort) const {
    of_.at(keyOf(reach, cohort)).addTo(absence, cohort);
  }
  size_t size() const { return count_; }

private:
  static uint64_t keyOf(Reach reach, CohortId cohort) {
    return uint64_t{static_cast<uint8_t>(reach)} << 32 | cohort.index;
  }
  void halve();

  std::unordered_map<uint64_t, Births> of_; // by reach and cohort
  size_t count_ = 0, most_ = kMostInAll;
};

class LeakAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "leaks"; }
  // Imported memory belongs to another process, so it is no leak of this one.
  bool wants(abi::Heap heap) const override { return heap != abi::Heap::Python && heap != abi::Heap::Imported; }
  uint32_t eventKinds() const override { return abi::enabledBit(abi::EventKind::Epoch); }
  void onEvent(const StreamEvent &, SiteId) override;
  void onFree(const Block &, FreeCause, uint64_t time_ns) override;
  void conclude(Conclusion &) const override;
  bool wantsReach() const override { return true; }
  void onReach(uint32_t process, const std::shared_ptr<const Reachability> &) override;
  void onProcessEnd(uint32_t process, const ProcessFate &) override;
  LeakResult result() const;

private:
  using ByCohort = std::unordered_map<uint32_t, CohortRemains>;
  // The leaked blocks of one reach.
  struct Leaked {
    ByCohort by_cohort;
    std::unordered_map<uint32_t, Holders> holders; // by cohort: of its largest block
  };
  using Libcs = std::map<std::string, std::vector<CohortRemains>>;      // by reason
  using UnderHeads = std::map<std::pair<CohortId, CohortId>, BlockSum>; // a lost cohort, and one that it leads to
  bool isLost(const Block &) const;
  void addLeaked(const Block &, uint64_t age_ns);
  std::vector<CohortRemains> leakedWith(const ByCohort &libcs) const;
  ByCohort takeHarmless(Conclusion &, Libcs &harmless) const;
  void addFindings(const std::vector<CohortRemains> &not_harmless, const ByCohort &libcs, Conclusion &) const;
  void addReachOf(Reach, CohortId, Evidence &, Conclusion &) const;
  const Holders *holdersOf(Reach, CohortId) const; // for the cohort's largest block; null if not known

  std::array<Leaked, kReaches> leaked_;
  AllBirths births_;
  ByCohort libcs_; // leaked, and held by libc's own variables: not in leaked_
  UnderHeads under_;
  ByCohort alive_, unsure_;
  std::map<uint32_t, std::shared_ptr<const Reachability>> reachabilities_; // of processes that will end soon
  std::map<uint32_t, std::string> why_not_;                                // by process
  std::set<uint32_t> later_; // cohorts with blocks allocated after their process' memory was last read
  Pauses pauses_;
};

} // namespace msleaks::analysis::inline analyzers
