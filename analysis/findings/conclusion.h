// An analyzer's input when the events are over, and the place for its results.
#pragma once

#include "analysis/findings/savings.h"
#include "analysis/live/memory_history.h"
#include "analysis/live/use.h"
#include "analysis/places/patterns.h"
#include "analysis/result/grouping.h"
#include "analysis/result/lines.h"
#include "analysis/result/resident.h"
#include "analysis/result/result.h"
#include "analysis/result/what_if.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline findings {

// Which idle device memory is a finding.
enum class Policy : uint8_t {
  Effect,     // what makes the peak lower
  MsMemScope, // what msMemScope marks, however little it is
};

// The user's options for the result.
struct Question {
  Policy policy = Policy::Effect;
  std::optional<Dimension> group_by;
  std::vector<SuppressionRule> suppressions;
  uint64_t skip_steps = 1;         // of growth: the first ones are left out
  uint64_t least_growth_bytes = 0; // in a step
  std::vector<Change> changes;     // what the peak would be with them
  // Only the names are wanted: what each finding saves is not worked out, and each counts as worth it.
  bool names_only = false;
  bool wants_series = false; // also the memory over time
};

class Conclusion {
public:
  // Those with most bytes are kept: each costs a look at the whole history of the memory.
  static constexpr size_t kMostFindings = 1000;

  Conclusion(SiteCatalog &catalog, const Cohorts &cohorts, const MemoryHistory &history,
             std::span<const ReportProcess> processes, const Question &question, const Names &names,
             const ResidentHistory &resident, const UseSources &sources)
      : lines(catalog, processes), catalog(catalog), cohorts(cohorts), processes(processes), question(question),
        names(names), resident(resident), savings_(history, cohorts), history_(history), sources_(sources) {}

  // A finding about the blocks of a place; `absence` are those that would not be there if it were fixed, in any order.
  // What is said of the place comes from the draft, what it saves is worked out here.
  void add(Draft<Finding>, Absence);
  // Drops all but those that can become findings: with the most bytes, which stand first then.
  template <class List, class BytesOf> static void keepLargest(List &list, BytesOf bytesOf) {
    std::stable_sort(list.begin(), list.end(), [&](const auto &a, const auto &b) { return bytesOf(a) > bytesOf(b); });
    if (list.size() > kMostFindings)
      list.erase(list.begin() + kMostFindings, list.end());
  }
  // A section "NAME_by_DIMENSION" of these blocks, if the user asks to group them.
  void addGroups(std::string_view name, std::string_view title, std::span<const CohortShare>);
  // What the account's peak would fall by without these blocks alone.
  uint64_t saves(const Account &account, const Absence &absence) {
    return question.names_only ? UINT64_MAX : savings_.alone(account, absence).bytes;
  }

  // Whether the peak falls so much that a finding is worth it: by a twentieth, and by more than a few pages.
  bool isWorthSaving(const Account &account, const Absence &absence) {
    return isMuchOfPeak(saves(account, absence), account);
  }

  uint64_t peakOf(const Account &account) { return static_cast<uint64_t>(savings_.peakOf(account)); }
  // Whether each use of the account's blocks was seen, by launches, copies and fills.
  bool seesUses(const Account &) const;
  // What these blocks, and all of the physical heaps, had at each local maximum; and when these were.
  Savings::Curve curveOf(const Absence &absence) const { return savings_.curveOf(absence); }
  const Savings::Curve &physicalCurve() { return savings_.physicalCurve(); }
  std::vector<uint64_t> timesOfCurves() const { return history_.times(); }
  const MemoryHistory &history() const { return history_; }

  // Whose these blocks are: what the program said of most of them (msl_owner_push), else the image of `site`.
  std::string ownerOf(std::span<const CohortShare>, const SiteText &site) const;

  // Ranks the findings. Nothing can be added any more.
  AnalysisResult finish();

  Lines lines;
  SiteCatalog &catalog;
  const Cohorts &cohorts;
  std::span<const ReportProcess> processes;
  const Question &question;
  const Names &names;
  const ResidentHistory &resident;
  uint64_t start_ns = 0; // of the session
  AnalysisResult result; // sections, peak and remains are put in here

private:
  struct Candidate {
    Draft<Finding> draft;
    Absence absence;
  };
  bool isMuchOfPeak(uint64_t bytes, const Account &account) {
    constexpr uint64_t kLeastBytes = 64 << 10, kLeastOneIn = 20;
    return bytes >= std::max(kLeastBytes, peakOf(account) / kLeastOneIn);
  }
  bool growsOrFillsPeak(const Finding &);
  std::vector<Finding *> candidateLines();
  void drop(const std::vector<bool> &gone); // in the order of the candidates
  void rank();
  void mergeGrowth();
  void putLostFirst();
  void putLargeBeforeTiny();

  Savings savings_;
  const MemoryHistory &history_;
  const UseSources &sources_;
  std::vector<Candidate> candidates_;
};

} // namespace msleaks::analysis::inline findings
