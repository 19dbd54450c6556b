// Dead writes: copies and fills whose bytes are overwritten before anything can have read them (docs/analyses.md).
#include "analysis/analyzers/copy_time.h"
#include "analysis/analyzers/registry.h"
#include "analysis/findings/advice.h"
#include "analysis/findings/keeper.h"
#include "analysis/live/use.h"

#include <fmt/format.h>
#include <map>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline analyzers {
namespace {

constexpr uint64_t kLeastDeadBytes = 64 << 10;
constexpr uint64_t kLeastDeadShare = 20; // at least one part in 20 of the bytes written to the place's blocks

// The writes to a live block since its last other use.
struct UnreadWrites {
  uint64_t bytes = 0, count = 0;
  SiteId site; // of the last write
};

// The sums of a cohort's blocks.
struct Dead {
  uint64_t written_bytes = 0; // all written bytes
  uint64_t bytes = 0, count = 0;
  SiteId written_at, overwritten_at; // sites of the last dead write

  Dead &operator+=(const Dead &other) {
    written_bytes += other.written_bytes;
    bytes += other.bytes;
    count += other.count;
    if (other.count != 0) {
      written_at = other.written_at;
      overwritten_at = other.overwritten_at;
    }
    return *this;
  }
};

class DeadWritesAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "dead_writes"; }
  bool wants(abi::Heap heap) const override { return hasUses(heap); }
  void onUse(const Block &, const Use &) override;
  void onFree(const Block &block, FreeCause, uint64_t) override { elementAt(written_, block.id.index) = {}; }
  void conclude(Conclusion &) const override;

private:
  std::vector<UnreadWrites> written_; // by number of the block
  std::vector<Dead> dead_;            // by cohort
};

// The size of a copy or fill is known. It overwrites earlier writes only if it writes the whole block. A launch may
// write only a part. If it is not known that a launch reads nothing, it may read; a map may read, too.
void DeadWritesAnalyzer::onUse(const Block &block, const Use &use) {
  if (use.is_launch && use.writes && !use.reads)
    return;
  UnreadWrites &written = elementAt(written_, block.id.index);
  if (use.reads || !use.writes || use.bytes == 0) {
    written = {};
    return;
  }
  Dead &dead = elementAt(dead_, block.cohort.index);
  dead.written_bytes += use.bytes;
  if (use.bytes >= block.size) {
    if (written.count != 0)
      dead += {0, written.bytes, written.count, written.site, use.site};
    written = {};
  }
  written.bytes += use.bytes;
  ++written.count;
  written.site = use.site;
}

struct DeadWrites {
  Place place;
  std::vector<CohortShare> cohorts;
  Dead sum;
};

Draft<Finding> findingOf(const Keeper &keeper, const DeadWrites &writes, Conclusion &conclusion) {
  auto draft = draftOf(finding_kinds::kDeadWrite, keeper, writes.place, writes.cohorts, conclusion);
  Finding &finding = draft.line;
  finding.confidence = Confidence::Likely;
  finding.saves_ns = copyNs(writes.sum.bytes);
  finding.evidence = {{"written_bytes", writes.sum.written_bytes}};
  addLine(finding.evidence, "written_at", writes.sum.written_at, conclusion);
  addLine(finding.evidence, "overwritten_at", writes.sum.overwritten_at, conclusion);
  const std::string write = lineOf(writes.sum.written_at, conclusion);
  const std::string over = lineOf(writes.sum.overwritten_at, conclusion);
  finding.advice = fmt::format("Remove the write{}: the write{} overwrites all its bytes.",
                               write.empty() ? " to " + thingOf(finding) : " at " + write,
                               over.empty() ? " after it" : " at " + over);
  return draft;
}

void DeadWritesAnalyzer::conclude(Conclusion &conclusion) const {
  std::map<Keeper, DeadWrites> by_keeper;
  for (uint32_t index = 1; index < std::min(dead_.size(), conclusion.cohorts.size()); ++index) {
    const Dead &dead = dead_[index];
    const Cohort &cohort = conclusion.cohorts[{index}];
    if (dead.written_bytes == 0 || !conclusion.seesUses({cohort.heap, cohort.device}))
      continue;
    const auto kept = ownKeeperOf(cohort, conclusion);
    if (!kept)
      continue;
    DeadWrites &writes = by_keeper[kept->keeper];
    writes.place = kept->place;
    writes.cohorts.push_back({CohortId{index}, dead.bytes, dead.count});
    writes.sum += dead;
  }
  for (const auto &[keeper, writes] : by_keeper)
    if (writes.sum.bytes >= std::max(kLeastDeadBytes, writes.sum.written_bytes / kLeastDeadShare))
      conclusion.add(findingOf(keeper, writes, conclusion), {});
}

} // namespace

MSL_REGISTER_ANALYZER(dead_writes, DeadWritesAnalyzer)

} // namespace msleaks::analysis::inline analyzers
