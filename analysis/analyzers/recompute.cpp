// Recompute: activations of layers are alive from the forward part to the backward part. A training can compute them
// again instead (docs/analyses.md).
#include "analysis/analyzers/layer_activations.h"
#include "analysis/analyzers/registry.h"
#include "analysis/analyzers/tensor_origins.h"
#include "analysis/analyzers/training_progress.h"
#include "analysis/findings/keeper.h"

#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline analyzers {
namespace {

constexpr size_t kLeastLayers = 3;
constexpr uint64_t kLeastBytes = 4096;    // smaller blocks are no content of tensors that matters
constexpr size_t kMostSpared = 1'000'000; // blocks, to compute their cost at the end

// A tensor of a layer that was allocated in a forward part.
struct LayerTensor {
  uint32_t layer, pass;
  uint64_t order;
};

// The layers of a group on one heap.
struct LayerGroup {
  Absence absence;
  std::vector<CohortShare> at_peak;
  std::set<uint32_t> layers;
};

class RecomputeAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "recompute"; }
  bool wants(abi::Heap heap) const override { return heap == abi::Heap::Host || heap == abi::Heap::Pool; }
  void useCohorts(const Cohorts &cohorts, SiteCatalog &catalog) override {
    cohorts_ = &cohorts;
    catalog_ = &catalog;
    origins_.emplace(cohorts, catalog);
  }
  bool usePeaks(const Peaks &peaks) override {
    peaks_ = &peaks;
    return true;
  }
  void onAlloc(const Block &, AllocCause, uint64_t time_ns) override;
  void onFree(const Block &, FreeCause, uint64_t time_ns) override;
  void conclude(Conclusion &) const override;

private:
  struct Training {
    Progress progress;
    LayerActivations activations;
  };
  uint32_t layerOfCohort(CohortId);
  void keep(const SparedBlock &block) {
    if (spared_.size() < kMostSpared)
      spared_.push_back(block);
  }
  std::map<std::pair<Account, std::string_view>, LayerGroup> groups(Conclusion &) const;

  const Cohorts *cohorts_ = nullptr;
  SiteCatalog *catalog_ = nullptr;
  const Peaks *peaks_ = nullptr;
  std::optional<TensorOrigins> origins_;
  std::map<std::pair<std::string, uint32_t>, uint32_t> numbers_; // of layers, from 1
  std::vector<LayerName> names_;                                 // by number - 1
  std::vector<std::optional<uint32_t>> by_cohort_;
  std::unordered_map<uint32_t, LayerTensor> tensors_; // live ones, by number of the block
  std::unordered_map<uint32_t, Training> trainings_;  // by process
  std::vector<SparedBlock> spared_;
  uint64_t order_ = 0;
};

uint32_t RecomputeAnalyzer::layerOfCohort(CohortId cohort) {
  std::optional<uint32_t> &number = elementAt(by_cohort_, cohort.index);
  if (number)
    return *number;
  const auto layer = layerOf(catalog_->moduleOf((*cohorts_)[cohort].site));
  if (!layer)
    return *(number = 0);
  const auto [known, fresh] =
      numbers_.try_emplace({layer->group, layer->number}, static_cast<uint32_t>(names_.size() + 1));
  if (fresh)
    names_.push_back(*layer);
  return *(number = known->second);
}

void RecomputeAnalyzer::onAlloc(const Block &block, AllocCause, uint64_t time_ns) {
  const TensorOrigin origin = origins_->of(block.cohort);
  if (origin == TensorOrigin::NoTensor)
    return;
  Progress &progress = trainings_[block.process].progress;
  progress.onTensor(origin, time_ns);
  if (origin != TensorOrigin::Module || block.bytes() < kLeastBytes)
    return;
  if (const uint32_t layer = layerOfCohort(block.cohort); layer != 0)
    tensors_[block.id.index] = {layer, progress.pass, ++order_};
}

void RecomputeAnalyzer::onFree(const Block &block, FreeCause cause, uint64_t time_ns) {
  if (origins_->of(block.cohort) != TensorOrigin::Module)
    return;
  const auto found = tensors_.extract(block.id.index);
  if (found.empty() || isEnd(cause))
    return;
  const LayerTensor &tensor = found.mapped();
  auto &[progress, activations] = trainings_[block.process];
  if (progress.part == Part::Backward && progress.pass == tensor.pass)
    activations.onFree({block.cohort, tensor.layer, block.size, block.time_ns, time_ns}, tensor.order, tensor.pass,
                       progress.begin_ns, [&](const SparedBlock &spared) { keep(spared); });
}

std::map<std::pair<Account, std::string_view>, LayerGroup> RecomputeAnalyzer::groups(Conclusion &conclusion) const {
  std::vector<SparedBlock> spared = spared_;
  for (const auto &[process, training] : trainings_)
    LayerActivations(training.activations).finish([&](const SparedBlock &block) { spared.push_back(block); });
  std::map<std::pair<Account, std::string_view>, LayerGroup> groups;
  for (const SparedBlock &block : spared) {
    const Cohort &cohort = conclusion.cohorts[block.cohort];
    const Account account{cohort.heap, cohort.device};
    LayerGroup &group = groups[{account, names_[block.layer - 1].group}];
    group.absence.blocks.push_back({block.cohort, static_cast<int64_t>(block.bytes), block.from_ns, block.to_ns});
    group.layers.insert(block.layer);
    if (const uint64_t peak_ns = peaks_->of(account).clock().timeNs();
        block.from_ns <= peak_ns && peak_ns < block.to_ns)
      group.at_peak.push_back({block.cohort, block.bytes, 1});
  }
  return groups;
}

void RecomputeAnalyzer::conclude(Conclusion &conclusion) const {
  if (conclusion.question.policy != Policy::Effect || spared_.size() == kMostSpared)
    return;
  for (auto &[key, group] : groups(conclusion)) {
    const auto &[account, name] = key;
    const auto most = keeperOfMost(group.at_peak, conclusion);
    if (!most || group.layers.size() < kLeastLayers || !conclusion.isWorthSaving(account, group.absence))
      continue;
    auto draft = draftOf(finding_kinds::kRecompute, most->first, most->second.place, group.at_peak, conclusion);
    draft.line.confidence = Confidence::Hint;
    draft.line.module = name;
    draft.line.evidence = {{"layers", uint64_t{group.layers.size()}}};
    draft.line.advice =
        "Compute them again in the backward part instead: call each layer by torch.utils.checkpoint.checkpoint(layer, "
        "…, use_reentrant=False), or call gradient_checkpointing_enable() of a model of transformers. These layers "
        "then run forward twice in each step.";
    conclusion.add(std::move(draft), std::move(group.absence));
  }
}

} // namespace

MSL_REGISTER_ANALYZER(recompute, RecomputeAnalyzer)

} // namespace msleaks::analysis::inline analyzers
