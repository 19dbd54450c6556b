#include "analysis/findings/conclusion.h"

#include "analysis/base/text.h"
#include "analysis/findings/causes.h"
#include "analysis/findings/common_module.h"
#include "analysis/findings/file_leaks.h"
#include "analysis/findings/forward_line.h"
#include "analysis/findings/place_groups.h"
#include "analysis/findings/torch_owner.h"
#include "analysis/findings/twins.h"
#include "analysis/live/owners.h"
#include "analysis/live/reachability.h"
#include "analysis/result/finding_kinds.h"
#include "analysis/result/place_key.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <xxhash.h>

namespace msleaks::analysis::inline findings {
namespace {

std::string hashOf(const std::string &key) { return fmt::format("{:016x}", XXH3_64bits(key.data(), key.size())); }

// "a.c:12 f < b.c:7 g" -> "a.c f < b.c g".
std::string withoutLines(const std::string &callers) {
  std::string text;
  for (size_t i = 0; i < callers.size(); ++i) {
    const bool is_line =
        callers[i] == ':' && i + 1 < callers.size() && std::isdigit(static_cast<unsigned char>(callers[i + 1]));
    if (!is_line)
      text += callers[i];
    else
      while (i + 1 < callers.size() && std::isdigit(static_cast<unsigned char>(callers[i + 1])))
        ++i;
  }
  return text;
}

// A finding has the same id in each run and build if its place is the same.
std::string idOf(const Finding &finding, uint32_t ordinal) {
  std::string kept = fmt::format("{}\n{}\n{}", finding.kind, static_cast<int>(finding.heap), finding.device);
  if (!finding.part.empty())
    kept += "\n" + finding.part;
  if (!finding.callers.empty())
    kept += "\n" + withoutLines(finding.callers);
  if (!finding.closed_library.empty())
    return hashOf(fmt::format("{}\n{}\n{}", kept, libraryName(finding.closed_library), ordinal));
  PlaceKey key = keyOf(finding);
  key.ordinal = ordinal;
  return hashOf(kept + "\n" + textOf(key));
}

// Gives each finding its id. Findings that differ only in the line get ordinals in the order of the lines.
void giveIds(const std::vector<Finding *> &findings) {
  std::map<std::string, std::vector<Finding *>> alike;
  for (Finding *finding : findings)
    alike[idOf(*finding, 0)].push_back(finding);
  const auto orderOf = [](const Finding *finding) {
    const SiteText &site = finding->site;
    return std::tie(site.file, site.line, site.column, site.library, site.offset);
  };
  for (auto &[id, list] : alike) {
    std::stable_sort(list.begin(), list.end(),
                     [&](const Finding *a, const Finding *b) { return orderOf(a) < orderOf(b); });
    for (uint32_t ordinal = 0; ordinal < list.size(); ++ordinal)
      list[ordinal]->id = idOf(*list[ordinal], ordinal);
  }
}

void addTorchEvidence(Finding &finding) {
  const auto owner = torchOwnerOf(finding.owner);
  if (!owner)
    return;
  finding.evidence.emplace_back("phase", std::string(owner->phase));
  if (!owner->name.empty())
    finding.evidence.emplace_back("operator", std::string(owner->name));
  if (!finding.module.empty())
    finding.evidence.emplace_back("module", finding.module);
  if (finding.forward != FrameText{})
    finding.evidence.emplace_back("forward", finding.forward);
}

// Faults come first. Then comes memory that a training can save if it computes more, then blocks that are only large.
int tierOf(const Finding &finding) {
  return isOf(finding, finding_kinds::kPeak) ? 2 : isOf(finding, finding_kinds::kRecompute) ? 1 : 0;
}

// The probable saving of a fix. A leak after the peak counts with all its bytes: a longer run has a higher peak.
uint64_t expectedSaving(const Finding &finding) {
  constexpr uint64_t kHintsOfWhichOneHolds = 4;
  const bool counts_whole =
      isOf(finding, finding_kinds::kLeak) || isOf(finding, finding_kinds::kGrowth) || isOutsideOfPeak(finding);
  const uint64_t saving = finding.concern == Concern::Time ? finding.saves_ns
                          : counts_whole                   ? std::max(finding.saves_bytes, finding.bytes)
                                                           : finding.saves_bytes;
  return finding.confidence == Confidence::Hint ? saving / kHintsOfWhichOneHolds : saving;
}

bool isBefore(const Finding &left, const Finding &right) {
  const auto orderOf = [](const Finding &finding) {
    return std::tie(finding.site.file, finding.site.line, finding.site.column, finding.kind, finding.id);
  };
  if (isKeptByLibrary(left) != isKeptByLibrary(right))
    return isKeptByLibrary(right);
  if (tierOf(left) != tierOf(right))
    return tierOf(left) < tierOf(right);
  if (left.concern != right.concern)
    return left.concern < right.concern;
  if (expectedSaving(left) != expectedSaving(right))
    return expectedSaving(left) > expectedSaving(right);
  return left.bytes != right.bytes ? left.bytes > right.bytes : orderOf(left) < orderOf(right);
}

// For leaks: lost blocks come first, since they are certain. Blocks that only lost blocks lead to come next.
int rankOfReach(const Finding &leak) {
  for (const auto &[name, value] : leak.evidence)
    if (const auto *reach = std::get_if<std::string>(&value); reach && name == "reach")
      return *reach == nameOf(Reach::Lost) ? 0 : *reach == nameOf(Reach::Indirect) ? 1 : 2;
  return 2;
}

} // namespace

void Conclusion::add(Draft<Finding> draft, Absence absence) {
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
  std::map<std::string_view, uint64_t> bytes; // by owner; of equal sums, the first owner in the alphabet wins
  for (const CohortShare &share : shares)
    bytes[live::ownerOf(cohorts[share.cohort], catalog)] += share.bytes;
  const auto most =
      std::max_element(bytes.begin(), bytes.end(), [](const auto &a, const auto &b) { return a.second < b.second; });
  return most == bytes.end() || most->first.empty() ? site.library : std::string(most->first);
}

void Conclusion::nameOwner(Finding &finding, std::span<const CohortShare> shares) {
  finding.owner = ownerOf(shares, finding.site);
  CommonModule module;
  for (const CohortShare &share : shares)
    module.add(moduleOf(cohorts[share.cohort], catalog), share.bytes);
  finding.module = module.name();
  finding.forward = forwardLineOf(shares, cohorts, lines);
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

void Conclusion::drop(const std::vector<bool> &gone) {
  size_t number = 0;
  std::erase_if(candidates_, [&](const Candidate &) { return gone[number++]; });
}

std::vector<Finding *> Conclusion::candidateLines() {
  std::vector<Finding *> findings;
  for (Candidate &candidate : candidates_)
    findings.push_back(&candidate.draft.line);
  return findings;
}

// A leak that grows from step to step is one finding: the leak gets the evidence of the growth.
void Conclusion::mergeGrowth() {
  PlaceGroups leaks;
  for (size_t i = 0; i < candidates_.size(); ++i)
    if (const Finding &finding = candidates_[i].draft.line; isOf(finding, finding_kinds::kLeak))
      leaks.add(finding, i);
  const auto isMerged = [&](const Finding &growth) {
    if (!isOf(growth, finding_kinds::kGrowth))
      return false;
    for (const size_t number : leaks.of(growth)) {
      Finding &leak = candidates_[number].draft.line;
      if (leak.bytes < growth.bytes / 2 || !mayBeOfOneWay(leak, growth))
        continue;
      const auto isNew = [known = leak.evidence](const auto &fact) {
        return std::none_of(known.begin(), known.end(), [&](const auto &other) { return other.first == fact.first; });
      };
      std::copy_if(growth.evidence.begin(), growth.evidence.end(), std::back_inserter(leak.evidence), isNew);
      return true;
    }
    return false;
  };
  std::vector<bool> merged;
  for (const Candidate &candidate : candidates_)
    merged.push_back(isMerged(candidate.draft.line));
  drop(merged);
}

// Sorts only the leaks among themselves: lost leaks first, each before the leaks that it leads to.
void Conclusion::putLostFirst() {
  std::vector<size_t> ranks;
  std::vector<Candidate> leaks;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const Finding &finding = candidates_[i].draft.line;
    if (!isOf(finding, finding_kinds::kLeak) || !finding.closed_library.empty())
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

bool Conclusion::growsOrFillsPeak(const Finding &finding) {
  const auto isGrowth = [](const auto &named) { return named.first == kGrowthEvidence; };
  return finding.concern == Concern::Memory && !isKeptByLibrary(finding) &&
         (std::any_of(finding.evidence.begin(), finding.evidence.end(), isGrowth) ||
          isMuchOfPeak(finding.saves_bytes, accountOf(finding)));
}

// A certain finding comes first, except a tiny one. A lost block of 24 bytes comes after 400 MiB that grow or fill the
// peak, even if these are only large.
void Conclusion::putLargeBeforeTiny() {
  constexpr uint64_t kTimes = 10'000;
  const auto weightOf = [](const Finding &finding) { return std::max(expectedSaving(finding), finding.family_bytes); };
  std::vector<Candidate> ranked;
  for (Candidate &candidate : candidates_) {
    const Finding &large = candidate.draft.line;
    auto before = ranked.end();
    if (growsOrFillsPeak(large))
      before = std::find_if(ranked.begin(), ranked.end(), [&](const Candidate &other) {
        const Finding &tiny = other.draft.line;
        return tiny.concern == Concern::Memory && weightOf(tiny) < weightOf(large) / kTimes;
      });
    ranked.insert(before, std::move(candidate));
  }
  candidates_ = std::move(ranked);
}

void Conclusion::rank() {
  for (Candidate &candidate : candidates_) {
    Finding &finding = candidate.draft.line;
    const Savings::Saving saving = savings_.alone(accountOf(finding), candidate.absence);
    finding.saves_bytes = saving.bytes;
    finding.evidence.emplace_back("saves_total_bytes", saving.all_bytes);
  }
  std::sort(candidates_.begin(), candidates_.end(),
            [](const Candidate &a, const Candidate &b) { return isBefore(a.draft.line, b.draft.line); });
  putLostFirst();
  putLargeBeforeTiny();
  for (const Candidate &candidate : candidates_)
    savings_.expect(candidate.absence);
  for (Candidate &candidate : candidates_) {
    Finding &finding = candidate.draft.line;
    finding.saves_cumulative_bytes = savings_.remove(accountOf(finding), candidate.absence);
  }
}

void Conclusion::addFindingCurves() {
  Series series = *result.series;
  const std::vector<uint64_t> times = history_.times();
  for (size_t i = 0; i < candidates_.size() && i < Series::kMostFindings; ++i) {
    const Finding &finding = candidates_[i].draft.line;
    if (finding.saves_bytes == 0)
      continue;
    const Savings::Curve at_maxima = savings_.curveOf(candidates_[i].absence);
    Series::Curve curve{.by = "finding", .name = finding.id, .heap = {}, .device = {}, .bytes = {}};
    for (const uint64_t since_start_ns : series.moments) {
      const auto behind = std::upper_bound(times.begin(), times.end(), start_ns + since_start_ns);
      const auto at = static_cast<size_t>(behind - times.begin());
      curve.bytes.push_back(at == 0 ? 0 : static_cast<uint64_t>(std::max<int64_t>(at_maxima[at - 1], 0)));
      curve.peak_bytes = std::max(curve.peak_bytes, curve.bytes.back());
    }
    series.curves.push_back(std::move(curve));
  }
  result.series = std::make_shared<const Series>(std::move(series));
}

AnalysisResult Conclusion::finish() {
  giveIds(candidateLines());
  drop(foldFileLeaks(candidateLines()));
  mergeGrowth();
  drop(twinsIn(candidateLines()));
  keepLargest(candidates_, [](const Candidate &candidate) { return candidate.draft.line.bytes; });
  if (!question.names_only)
    rank();
  for (Finding *finding : candidateLines())
    addTorchEvidence(*finding);
  if (result.series && !question.names_only)
    addFindingCurves();
  std::vector<Draft<Finding>> drafts;
  for (Candidate &candidate : candidates_)
    drafts.push_back(std::move(candidate.draft));
  candidates_.clear();
  result.findings = lines.named(std::move(drafts));
  nameCauses(result.findings);
  return std::move(result);
}

} // namespace msleaks::analysis::inline findings
