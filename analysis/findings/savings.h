// Computes how much the peaks fall if findings are fixed, one after another.
#pragma once

#include "analysis/findings/curves.h"
#include "analysis/live/account.h"
#include "analysis/live/memory_history.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline findings {

// The blocks that a fix of a finding would remove. They belong to one account.
struct Absence {
  CohortSet cohorts = {};               // all blocks of these cohorts,
  LifeParts parts = LifeParts::all();   // in these parts of their lives
  std::vector<AbsentBlock> blocks = {}; // of other cohorts, in any order
};

class Savings {
public:
  Savings(const MemoryHistory &history, const Cohorts &cohorts) : history_(history), cohorts_(cohorts) {}

  struct Saving {
    uint64_t bytes = 0;     // how much the account's peak falls
    uint64_t all_bytes = 0; // how much the peak of all physical heaps falls; 0 for other heaps
  };
  // The saving if only these blocks are removed.
  Saving alone(const Account &, const Absence &);
  int64_t peakOf(const Account &account) { return of(account).peak_bytes; }
  using Curve = std::vector<int64_t>; // at each local maximum (MemoryHistory::times)
  // The bytes of these blocks, and of all physical heaps.
  Curve curveOf(const Absence &);
  const Curve &physicalCurve();
  // Call it for each absence, before the first remove(): several absences may contain the same cohorts.
  void expect(const Absence &);
  // How much the account's peak falls if these blocks and all earlier removed ones are gone. Never removes more of a
  // cohort than the cohort has.
  uint64_t remove(const Account &, const Absence &);

private:
  struct Memory {
    HighestCurve all, left;
    int64_t peak_bytes = 0;
  };
  struct Change {
    size_t at; // number of the local maximum
    LifePart part;
    int64_t bytes;
  };
  using Changes = std::vector<std::pair<size_t, int64_t>>; // number of the local maximum, bytes

  template <class Counts> Curve curveOfCohorts(Counts counts) const;
  static Memory memoryOf(const Curve &);
  Memory &of(const Account &);
  const Memory &physical();
  std::span<const Change> changesOf(CohortId);
  void addChangesOf(CohortId, LifeParts, Changes &);
  void addChangesOf(const AbsentBlock &, Changes &) const;
  StepCurve stepsOf(const Absence &);
  std::map<CohortId, Changes> sharedParts(const Absence &);
  StepCurve allOf(CohortId);
  StepCurve removeOnce(const Absence &);

  const MemoryHistory &history_;
  const Cohorts &cohorts_;
  std::map<Account, Memory> accounts_;
  std::optional<Memory> physical_;
  Curve physical_curve_;
  std::vector<Change> changes_;           // of the whole history, by cohort; read at the first question
  std::vector<size_t> begins_;            // begin of each cohort's changes, and the end
  std::vector<uint32_t> expected_;        // by cohort: number of absences with this cohort
  std::map<CohortId, StepCurve> removed_; // of cohorts in several absences
};

} // namespace msleaks::analysis::inline findings
