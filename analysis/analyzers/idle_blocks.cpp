#include "analysis/analyzers/idle_blocks.h"

#include "analysis/findings/advice.h"

#include <fmt/format.h>
#include <map>
#include <string>
#include <string_view>

namespace msleaks::analysis::inline analyzers {
namespace {

std::string adviceOf(const Idle &idle, const std::string &use, std::string_view kernel, const Finding &finding) {
  const std::string it = pronounOf(finding), thing = thingOf(finding);
  const std::string by = kernel.empty() ? "" : fmt::format(" by `{}`", kernel);
  const std::string at = by + (use.empty() ? "" : fmt::format(" at {}", use));
  switch (idle.part) {
  case LifePart::NotUsed:
    return fmt::format("Allocate {} just before the first use{}.", thing, at);
  case LifePart::Late:
    return fmt::format("Free {} right after the last use{}.", thing, at);
  case LifePart::InUse:
    return fmt::format("Free {} after the use{} and fill {} again later, or move {} to the host in between.", thing, at,
                       it, it);
  default:
    return fmt::format("Remove the allocation in {}, or allocate {} where a kernel needs {}.", functionIn(finding.site),
                       thing, it);
  }
}

} // namespace

std::vector<IdleBlocks> blocksOf(const std::vector<Idleness> &cohorts, Conclusion &conclusion) {
  std::map<Keeper, IdleBlocks> keepers;
  for (uint32_t index = 1; index < cohorts.size(); ++index) {
    const Idleness &idleness = cohorts[index];
    if (idleness.count == 0) // the list may be longer than the list of cohorts
      continue;
    const Cohort &cohort = conclusion.cohorts[{index}];
    if (!conclusion.seesUses({cohort.heap, cohort.device}))
      continue;
    const auto kept = ownKeeperOf(cohort, conclusion);
    if (!kept)
      continue;
    IdleBlocks &blocks = keepers[kept->keeper];
    blocks.keeper = kept->keeper;
    blocks.place = kept->place;
    blocks.cohorts.push_back({{index}, idleness.bytes, idleness.count});
    blocks.sum += idleness;
  }
  std::vector<IdleBlocks> list;
  for (auto &[keeper, blocks] : keepers)
    list.push_back(std::move(blocks));
  Conclusion::keepLargest(list, [](const IdleBlocks &blocks) { return blocks.sum.bytes; });
  return list;
}

Absence absenceOf(const Idle &idle, const IdleBlocks &blocks, const Conclusion &conclusion) {
  Absence absence{CohortSet(conclusion.cohorts.size()), {idle.part}, {}};
  for (const CohortShare &share : blocks.cohorts)
    absence.cohorts[share.cohort.index] = true;
  return absence;
}

Draft<Finding> findingOf(const Idle &idle, const IdleBlocks &blocks, Conclusion &conclusion) {
  auto draft = draftOf(idle.kind, blocks.keeper, blocks.place, blocks.cohorts, conclusion);
  Finding &finding = draft.line;
  finding.byte_seconds = byteSecondsOf(blocks.sum.byte_ns);
  const std::string use = lineOf(blocks.sum.use, conclusion);
  finding.evidence = {{"idle_ns", blocks.sum.longest_ns}};
  if (!use.empty())
    finding.evidence.emplace_back(idle.use, use);
  const std::string_view kernel = conclusion.catalog.labels().textOf(blocks.sum.kernel);
  if (!kernel.empty())
    finding.evidence.emplace_back(idle.kernel, std::string(kernel));
  finding.advice = adviceOf(idle, use, kernel, finding);
  return draft;
}

} // namespace msleaks::analysis::inline analyzers
