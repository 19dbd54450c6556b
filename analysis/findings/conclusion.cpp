#include "analysis/findings/conclusion.h"

#include "analysis/base/base_name.h"
#include "analysis/live/reachability.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string_view>
#include <tuple>
#include <xxhash.h>

namespace msleaks::analysis {
namespace {

Account accountOf(const Finding &finding) { return {finding.heap, finding.device}; }

std::string hashOf(const std::string &key) { return fmt::format("{:016x}", XXH3_64bits(key.data(), key.size())); }

// By what a reader of the source would tell it by, so that it is the same for a program that was built again.
std::string idOf(const Finding &finding) {
  std::string kept = fmt::format("{}\n{}\n{}", finding.kind, static_cast<int>(finding.heap), finding.device);
  if (!finding.part.empty())
    kept += "\n" + finding.part;
  if (!finding.closed_library.empty())
    return hashOf(fmt::format("{}\n{}", kept, baseName(finding.closed_library)));
  const SiteText &site = finding.site;
  const bool has_line = !site.file.empty();
  return hashOf(fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", kept, site.file, site.line, site.column, site.function,
                            site.variable, has_line ? 0 : site.id));
}

bool isPeak(const Finding &finding) { return finding.kind == "peak"; }

// What its fix probably saves. A leak that comes behind the peak is as large, and a longer run has a higher one.
uint64_t expectedSaving(const Finding &finding) {
  constexpr uint64_t kHintsOfWhichOneHolds = 4;
  const bool leaks = finding.kind == "leak" || finding.kind == "growth";
  const uint64_t saving = finding.concern == Concern::Time ? finding.saves_ns
                          : leaks                          ? std::max(finding.saves_bytes, finding.bytes)
                                                           : finding.saves_bytes;
  return finding.confidence == Confidence::Hint ? saving / kHintsOfWhichOneHolds : saving;
}

bool isBefore(const Finding &left, const Finding &right) {
  const auto orderOf = [](const Finding &finding) {
    return std::tie(finding.site.file, finding.site.line, finding.site.column, finding.kind, finding.id);
  };
  if (left.closed_library.empty() != right.closed_library.empty())
    return left.closed_library.empty();
  if (isPeak(left) != isPeak(right)) // who only says what is large stands behind who says what is wrong
    return isPeak(right);
  if (left.concern != right.concern)
    return left.concern < right.concern;
  if (expectedSaving(left) != expectedSaving(right))
    return expectedSaving(left) > expectedSaving(right);
  return left.bytes != right.bytes ? left.bytes > right.bytes : orderOf(left) < orderOf(right);
}

// Of leaks: lost blocks are certain, and those that only they lead to go with them.
int rankOfReach(const Finding &leak) {
  for (const auto &[name, value] : leak.evidence)
    if (const auto *reach = std::get_if<std::string>(&value); reach && name == "reach")
      return *reach == nameOf(Reach::Lost) ? 0 : *reach == nameOf(Reach::Indirect) ? 1 : 2;
  return 2;
}

// Or of one closed library. What the user's own analyzers say stands beside what ours do.
bool isSamePlace(const Finding &a, const Finding &b) {
  if (accountOf(a) != accountOf(b) || a.closed_library != b.closed_library || a.analyzer != b.analyzer)
    return false;
  return !a.closed_library.empty() ||
         (a.site.id == b.site.id && static_cast<const FrameText &>(a.site) == static_cast<const FrameText &>(b.site));
}

} // namespace

const char *nameOf(Confidence confidence) {
  switch (confidence) {
  case Confidence::Proved:
    return "proved";
  case Confidence::Likely:
    return "likely";
  case Confidence::Hint:
    return "hint";
  }
  return "";
}

void Conclusion::add(Draft<Finding> draft, Absence absence) {
  draft.line.id = idOf(draft.line);
  absence.sort();
  candidates_.push_back({std::move(draft), std::move(absence)});
}

void Conclusion::addGroups(std::string_view name, std::string_view title, std::span<const CohortShare> shares) {
  if (!question.group_by)
    return;
  Section section = groupBy(*question.group_by, shares, lines, cohorts, names);
  section.name = fmt::format("{}_by_{}", name, nameOf(*question.group_by));
  section.title = title;
  section.is_grouping = true;
  result.sections.push_back(std::move(section));
}

std::string Conclusion::ownerOf(std::span<const CohortShare> shares, const SiteText &site) const {
  std::map<std::string_view, uint64_t> bytes; // by owner; of equal ones the first in the alphabet
  for (const CohortShare &share : shares)
    bytes[catalog.labels().textOf(cohorts[share.cohort].owner)] += share.bytes;
  const auto most =
      std::max_element(bytes.begin(), bytes.end(), [](const auto &a, const auto &b) { return a.second < b.second; });
  return most == bytes.end() || most->first.empty() ? site.library : std::string(most->first);
}

bool Conclusion::seesUses(const Account &account) const {
  bool has_blocks = false;
  for (uint32_t index = 1; index < cohorts.size(); ++index) {
    const Cohort &cohort = cohorts[{index}];
    if (cohort.heap != account.heap || cohort.device != account.device)
      continue;
    has_blocks = true;
    if (!sources_.seesAll(cohort.process))
      return false;
  }
  return has_blocks && hasUses(account.heap);
}

// A leak that grows from step to step is one finding: the leak, which knows how it grows.
void Conclusion::mergeGrowth() {
  const auto isOther = [](const Candidate &candidate) { return candidate.draft.line.kind != "growth"; };
  const auto others = std::stable_partition(candidates_.begin(), candidates_.end(), isOther);
  const auto givesToLeak = [&](const Candidate &candidate) {
    const Finding &growth = candidate.draft.line;
    const auto leak = std::find_if(candidates_.begin(), others, [&](const Candidate &other) {
      const Finding &finding = other.draft.line;
      return finding.kind == "leak" && finding.bytes >= growth.bytes / 2 && isSamePlace(finding, growth);
    });
    if (leak == others)
      return false;
    Evidence &evidence = leak->draft.line.evidence;
    evidence.insert(evidence.end(), growth.evidence.begin(), growth.evidence.end());
    return true;
  };
  candidates_.erase(std::remove_if(others, candidates_.end(), givesToLeak), candidates_.end());
}

// A hint gives way to a surer finding about most of the same blocks, and to one that says more of them: what a pool's
// segments have free. That is another thing than their leak.
void Conclusion::dropTwins() {
  const auto isPool = [](const Finding &finding) { return finding.kind == "fragmentation"; };
  const auto saysMore = [&](const Finding &finding) {
    return finding.confidence < Confidence::Hint || isPool(finding);
  };
  std::erase_if(candidates_, [&](const Candidate &candidate) {
    const Finding &hint = candidate.draft.line;
    return hint.confidence == Confidence::Hint && !isPool(hint) &&
           std::any_of(candidates_.begin(), candidates_.end(), [&](const Candidate &other) {
             const Finding &finding = other.draft.line;
             return saysMore(finding) && finding.concern == hint.concern && finding.bytes >= hint.bytes / 2 &&
                    isSamePlace(finding, hint);
           });
  });
}

// Leaks keep their ranks among all findings; within these, lost ones come first, each with those that it leads to.
void Conclusion::putLostFirst() {
  std::vector<size_t> ranks;
  std::vector<Candidate> leaks;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const Finding &finding = candidates_[i].draft.line;
    if (finding.kind != "leak" || !finding.closed_library.empty())
      continue;
    ranks.push_back(i);
    leaks.push_back(std::move(candidates_[i]));
  }
  const auto rankOf = [](const Candidate &leak) {
    const Finding &finding = leak.draft.line;
    return std::tuple(finding.family == 0, finding.family, rankOfReach(finding));
  };
  std::stable_sort(leaks.begin(), leaks.end(),
                   [&](const Candidate &a, const Candidate &b) { return rankOf(a) < rankOf(b); });
  for (size_t i = 0; i < ranks.size(); ++i)
    candidates_[ranks[i]] = std::move(leaks[i]);
}

AnalysisResult Conclusion::finish() {
  mergeGrowth();
  dropTwins();
  keepLargest(candidates_, [](const Candidate &candidate) { return candidate.draft.line.bytes; });
  for (Candidate &candidate : candidates_) {
    Finding &finding = candidate.draft.line;
    const Savings::Saving saving = savings_.alone(accountOf(finding), candidate.absence);
    finding.saves_bytes = saving.bytes;
    finding.evidence.emplace_back("saves_total_bytes", saving.all_bytes);
  }
  std::sort(candidates_.begin(), candidates_.end(),
            [](const Candidate &a, const Candidate &b) { return isBefore(a.draft.line, b.draft.line); });
  putLostFirst();
  for (const Candidate &candidate : candidates_)
    savings_.expect(candidate.absence);
  std::vector<Draft<Finding>> drafts;
  for (Candidate &candidate : candidates_) {
    Finding &finding = candidate.draft.line;
    finding.saves_cumulative_bytes = savings_.remove(accountOf(finding), candidate.absence);
    drafts.push_back(std::move(candidate.draft));
  }
  candidates_.clear();
  result.findings = lines.named(std::move(drafts));
  return std::move(result);
}

} // namespace msleaks::analysis
