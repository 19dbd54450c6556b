// An analyzer's input after the last event, and the place for its results.
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
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline findings {

// Which idle device memory becomes a finding.
enum class Policy : uint8_t {
  Effect,     // only if the peak would be lower
  MsMemScope, // all that msMemScope marks, however small
};

// The user's options for the result.
struct Question {
  Policy policy = Policy::Effect;
  std::optional<Dimension> group_by;
  std::vector<SuppressionRule> suppressions;
  uint64_t skip_steps = 1;         // for growth: number of first steps to ignore
  uint64_t least_growth_bytes = 0; // in a step
  std::vector<Change> changes;     // to compute the peak after these changes
  // Only names are needed: does not compute what findings save, and treats each finding as worth it.
  bool names_only = false;
  bool wants_series = false;    // also compute the memory over time
  bool wants_blocks = false;    // also list the largest blocks
  bool wants_allocated = false; // also list the paths of all blocks, not only of those alive at the peak or leaked
  bool wants_pictures = false;  // also compute what only a page draws (result/pictures.h)
};

class Conclusion {
public:
  // Keeps the findings with the most bytes, because each finding needs a pass over its cohorts' history.
  static constexpr size_t kMostFindings = 1000;

  Conclusion(SiteCatalog &catalog, const Cohorts &cohorts, const MemoryHistory &history,
             std::span<const ReportProcess> processes, const Question &question, const Names &names,
             const ResidentHistory &resident, const UseSources &sources)
      : lines(catalog, processes), catalog(catalog), cohorts(cohorts), processes(processes), question(question),
        names(names), resident(resident), savings_(history, cohorts), history_(history), sources_(sources) {}

  // Adds a finding about the blocks of a place. `absence` contains the blocks that a fix would remove.
  // The draft describes the place. What the finding saves is computed here.
  void add(Draft<Finding>, Absence);
  // Sorts the list by bytes, the largest first, and keeps only as many entries as there can be findings.
  template <class List, class BytesOf> static void keepLargest(List &list, BytesOf bytesOf) {
    std::stable_sort(list.begin(), list.end(), [&](const auto &a, const auto &b) { return bytesOf(a) > bytesOf(b); });
    if (list.size() > kMostFindings)
      list.erase(list.begin() + kMostFindings, list.end());
  }
  // Adds a section "NAME_by_DIMENSION" for these blocks, if the user asked to group them.
  void addGroups(std::string_view name, std::string_view title, std::span<const CohortShare>);
  // How much lower the account's peak would be without these blocks.
  uint64_t saves(const Account &account, const Absence &absence) {
    return question.names_only ? UINT64_MAX : savings_.alone(account, absence).bytes;
  }

  // Whether a finding is worth it: the peak would be lower by a twentieth, and by more than a few pages.
  bool isWorthSaving(const Account &account, const Absence &absence) {
    return isMuchOfPeak(saves(account, absence), account);
  }

  uint64_t peakOf(const Account &account) { return static_cast<uint64_t>(savings_.peakOf(account)); }
  // Whether each use of the account's blocks by launches, copies and fills was seen.
  bool seesUses(const Account &) const;
  // The bytes of these blocks, and of all physical heaps, at each local maximum; and the times of the maxima.
  Savings::Curve curveOf(const Absence &absence) { return savings_.curveOf(absence); }
  const Savings::Curve &physicalCurve() { return savings_.physicalCurve(); }
  std::vector<uint64_t> timesOfCurves() const { return history_.times(); }
  const MemoryHistory &history() const { return history_; }

  // The owner of these blocks: the program's name for most of their bytes (msl_owner_push), or the image of `site`.
  std::string ownerOf(std::span<const CohortShare>, const SiteText &site) const;
  // Sets the owner of a finding about these blocks, the module of PyTorch, and the line of the forward pass.
  void nameOwner(Finding &, std::span<const CohortShare>);

  // Ranks the findings. After this call, nothing can be added.
  AnalysisResult finish();

  Lines lines;
  SiteCatalog &catalog;
  const Cohorts &cohorts;
  std::span<const ReportProcess> processes;
  const Question &question;
  const Names &names;
  const ResidentHistory &resident;
  uint64_t start_ns = 0; // start of the session
  // How long each thread waited for the collector, by process and threadApart(). Empty for a part of a run.
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> stalled_ns;
  AnalysisResult result; // analyzers add sections, the peak and remains here

private:
  struct Candidate {
    Draft<Finding> draft;
    Absence absence;
  };
  // Adds a curve for each of the first findings to the series: the bytes that a fix removes at each moment.
  void addFindingCurves();
  bool isMuchOfPeak(uint64_t bytes, const Account &account) {
    constexpr uint64_t kLeastBytes = 64 << 10, kLeastOneIn = 20;
    return bytes >= std::max(kLeastBytes, peakOf(account) / kLeastOneIn);
  }
  bool growsOrFillsPeak(const Finding &);
  std::vector<Finding *> candidateLines();
  void drop(const std::vector<bool> &gone); // in the order of candidates_
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
