// Copies: host blocks that were copied to a device, and stay alive while the copy exists (docs/analyses.md).
#include "analysis/analyzers/registry.h"
#include "analysis/findings/advice.h"
#include "analysis/findings/keeper.h"
#include "analysis/places/place.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <unordered_map>
#include <utility>

namespace msleaks::analysis::inline analyzers {
namespace {

constexpr uint64_t kLeastCopiedBytes = 64 << 10; // smaller blocks are ignored
// Keeps at most this many freed blocks, to compute their cost at the end.
constexpr size_t kMostCopied = 100'000;

// The last copy of a live host block. Earlier copies do not count, because staging buffers are copied again and again.
struct Copied {
  uint64_t copied_ns = 0;
  uint64_t until_ns = UINT64_MAX; // when the copy was freed or overwritten
  BlockId to;
  SiteId site, to_site;
};

// A host block that was alive at the same time as its copy.
struct Beside {
  CohortId cohort;
  uint64_t bytes, from_ns, to_ns;
  SiteId site, to_site;
};

class CopiesAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "copies"; }
  void onCopyToDevice(const Block &source, const Block &destination, const CopyToDevice &copy) override {
    endCopyIn(destination.id, copy.time_ns);
    if (source.size < kLeastCopiedBytes)
      return;
    copied_[source.id.index] = {copy.time_ns, UINT64_MAX, destination.id, copy.site, destination.site};
    sources_[destination.id.index] = source.id;
  }
  void onFree(const Block &block, FreeCause, uint64_t time_ns) override {
    if (copied_.empty())
      return;
    if (hasUses(block.heap) || block.heap == abi::Heap::Imported)
      endCopyIn(block.id, time_ns);
    else
      endSource(block, time_ns);
  }
  void conclude(Conclusion &) const override;

private:
  void endCopyIn(BlockId destination, uint64_t time_ns);
  void endSource(const Block &, uint64_t time_ns);

  std::unordered_map<uint32_t, Copied> copied_;   // by number of the host block
  std::unordered_map<uint32_t, BlockId> sources_; // by number of the device's block: the source of its content
  std::vector<Beside> beside_;
};

// The device's block was freed, or something else is copied into it.
void CopiesAnalyzer::endCopyIn(BlockId destination, uint64_t time_ns) {
  const auto source = sources_.find(destination.index);
  if (source == sources_.end())
    return;
  const auto copied = copied_.find(source->second.index);
  if (copied != copied_.end() && copied->second.to == destination)
    copied->second.until_ns = time_ns;
  sources_.erase(source);
}

void CopiesAnalyzer::endSource(const Block &block, uint64_t time_ns) {
  const auto found = copied_.find(block.id.index);
  if (found == copied_.end())
    return;
  const Copied copied = found->second;
  copied_.erase(found);
  const uint64_t to_ns = std::min(copied.until_ns, time_ns);
  if (to_ns > copied.copied_ns && beside_.size() < kMostCopied)
    beside_.push_back({block.cohort, block.size, copied.copied_ns, to_ns, copied.site, copied.to_site});
}

struct BesideCopies : KeptBlocks {
  const Beside *longest = nullptr;
};

Draft<Finding> findingOf(const Keeper &keeper, const BesideCopies &blocks, Conclusion &conclusion) {
  auto draft = draftOf(finding_kinds::kCopy, keeper, blocks.place, blocks.cohorts, conclusion);
  Finding &finding = draft.line;
  const Beside &longest = *blocks.longest;
  finding.confidence = Confidence::Hint;
  finding.byte_seconds = byteSecondsOf(blocks.byte_ns);
  finding.evidence = {{"idle_ns", blocks.longest_ns}};
  addLine(finding.evidence, "copied_at", longest.site, conclusion);
  addLine(finding.evidence, "copied_to", longest.to_site, conclusion);
  const std::string copy = lineOf(longest.site, conclusion);
  finding.advice = fmt::format("If the host does not read {} any more, free {} after the copy{}.", thingOf(finding),
                               pronounOf(finding), copy.empty() ? "" : " at " + copy);
  return draft;
}

void CopiesAnalyzer::conclude(Conclusion &conclusion) const {
  std::map<Keeper, BesideCopies> by_keeper;
  for (const Beside &beside : beside_) {
    BesideCopies *blocks = ownBlocksOf(beside.cohort, by_keeper, conclusion);
    if (!blocks)
      continue;
    if (!blocks->longest || beside.to_ns - beside.from_ns > blocks->longest_ns)
      blocks->longest = &beside;
    blocks->add(beside.cohort, beside.bytes, beside.from_ns, beside.to_ns);
  }
  addFindings(by_keeper, conclusion,
              [&](const Keeper &keeper, const BesideCopies &blocks) { return findingOf(keeper, blocks, conclusion); });
}

} // namespace

MSL_REGISTER_ANALYZER(copies, CopiesAnalyzer)

} // namespace msleaks::analysis::inline analyzers
