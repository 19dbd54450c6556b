// Replaced states: the state of an optimizer of PyTorch stays allocated after another optimizer has replaced it
// (docs/analyses.md).
#include "analysis/analyzers/optimizer_states.h"
#include "analysis/analyzers/registry.h"
#include "analysis/analyzers/tensor_origins.h"
#include "analysis/findings/advice.h"
#include "analysis/findings/keeper.h"

#include <fmt/format.h>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline analyzers {
namespace {

constexpr uint64_t kLeastStateBytes = 1024;
constexpr size_t kMostReplaced = 100'000; // freed blocks, to compute their cost at the end

// A block of a state that was replaced.
struct ReplacedBlock {
  CohortId cohort, by;
  uint64_t bytes, from_ns, to_ns;
};

struct ReplacedBlocks : KeptBlocks {
  CohortId by; // of the largest block
  uint64_t largest_bytes = 0;
};

class ReplacedStatesAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "replaced_states"; }
  bool wants(abi::Heap heap) const override { return heap == abi::Heap::Host || heap == abi::Heap::Pool; }
  void useCohorts(const Cohorts &cohorts, SiteCatalog &catalog) override { origins_.emplace(cohorts, catalog); }
  void onAlloc(const Block &block, AllocCause, uint64_t time_ns) override {
    if (block.bytes() < kLeastStateBytes)
      return;
    const TensorOrigin origin = origins_->of(block.cohort);
    if (origin == TensorOrigin::Backward)
      states_[block.process].addGradient(block);
    else if (origin == TensorOrigin::Optimizer)
      states_[block.process].addState(block, time_ns);
  }
  void onFree(const Block &block, FreeCause, uint64_t time_ns) override {
    const auto process = block.bytes() < kLeastStateBytes ? states_.end() : states_.find(block.process);
    if (process == states_.end())
      return;
    const auto replaced = process->second.remove(block);
    if (replaced && replaced_.size() < kMostReplaced)
      replaced_.push_back({block.cohort, replaced->by, block.size, replaced->time_ns, time_ns});
  }
  void onProcessEnd(uint32_t process, const ProcessFate &) override { states_.erase(process); }
  void conclude(Conclusion &) const override;

private:
  std::optional<TensorOrigins> origins_;
  std::unordered_map<uint32_t, OptimizerStates> states_; // by process
  std::vector<ReplacedBlock> replaced_;
};

Draft<Finding> findingOf(const Keeper &keeper, const ReplacedBlocks &blocks, Conclusion &conclusion) {
  auto draft = draftOf(finding_kinds::kLateFree, keeper, blocks.place, blocks.cohorts, conclusion);
  Finding &finding = draft.line;
  finding.byte_seconds = byteSecondsOf(blocks.byte_ns);
  const std::string by = lineOf(conclusion.cohorts[blocks.by].site, conclusion);
  finding.evidence = {{"idle_ns", blocks.longest_ns}, {"replaced_by", by}};
  finding.advice = fmt::format("A later optimizer got the same state for the same gradients at {}. Drop each reference "
                               "to the old optimizer before that, also in schedulers and lists, or use one optimizer "
                               "and change its `param_groups`.",
                               by);
  return draft;
}

void ReplacedStatesAnalyzer::conclude(Conclusion &conclusion) const {
  if (conclusion.question.policy != Policy::Effect)
    return;
  std::map<Keeper, ReplacedBlocks> by_keeper;
  for (const ReplacedBlock &block : replaced_) {
    ReplacedBlocks *blocks = ownBlocksOf(block.cohort, by_keeper, conclusion);
    if (!blocks)
      continue;
    blocks->add(block.cohort, block.bytes, block.from_ns, block.to_ns);
    if (block.bytes > blocks->largest_bytes) {
      blocks->largest_bytes = block.bytes;
      blocks->by = block.by;
    }
  }
  addFindings(by_keeper, conclusion, [&](const Keeper &keeper, const ReplacedBlocks &blocks) {
    return findingOf(keeper, blocks, conclusion);
  });
}

} // namespace

MSL_REGISTER_ANALYZER(replaced_states, ReplacedStatesAnalyzer)

} // namespace msleaks::analysis::inline analyzers
