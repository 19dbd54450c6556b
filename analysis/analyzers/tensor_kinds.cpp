// Kinds of PyTorch's tensors at the peak (tensor_kind.h).
#include "analysis/analyzers/registry.h"
#include "analysis/analyzers/tensor_kind.h"
#include "analysis/live/cohort_sums.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline analyzers {
namespace {

constexpr std::array<const char *, static_cast<size_t>(TensorKind::Count)> kNames = {
    "parameters",       "gradients",    "optimizer state", "activations",
    "kept over passes", "forward pass", "temporaries",     "other tensors"};

struct Birth : TensorBirth {
  uint64_t peak = 0; // number of the peak before the allocation
};

// The tensors of each kind that are alive at a peak. A tensor is added when it ends.
class KindsAtPeak {
public:
  void add(TensorKind kind, uint64_t bytes, uint64_t peak) {
    if (peak_ != peak)
      *this = {};
    peak_ = peak;
    sums_[static_cast<size_t>(kind)] += {bytes, 1};
  }
  BlockSum of(TensorKind kind, uint64_t peak) const {
    return peak_ == peak ? sums_[static_cast<size_t>(kind)] : BlockSum{};
  }

private:
  uint64_t peak_ = 0;
  std::array<BlockSum, static_cast<size_t>(TensorKind::Count)> sums_{};
};

class TensorKindsAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "tensor_kinds"; }
  void useCohorts(const Cohorts &cohorts, SiteCatalog &catalog) override { origins_.emplace(cohorts, catalog); }
  bool usePeaks(const Peaks &peaks) override {
    peaks_ = &peaks;
    return true;
  }
  void onAlloc(const Block &, AllocCause, uint64_t time_ns) override;
  void onFree(const Block &, FreeCause, uint64_t time_ns) override;
  void conclude(Conclusion &) const override;

private:
  static bool isPart(const Block &block) { return block.heap == abi::Heap::Pool; }
  const PeakClock &clockOf(bool of_pools) const {
    return (of_pools ? peaks_->of(abi::Heap::Pool) : peaks_->physical()).clock();
  }

  std::optional<TensorOrigins> origins_;
  const Peaks *peaks_ = nullptr;
  std::unordered_map<uint32_t, Progress> progress_; // by process
  std::unordered_map<uint32_t, Birth> births_;      // of live tensors, by number of the block
  KindsAtPeak physical_, pools_;
  bool has_tensors_ = false;
};

void TensorKindsAnalyzer::onAlloc(const Block &block, AllocCause, uint64_t time_ns) {
  const TensorOrigin origin = origins_->of(block.cohort);
  if (origin == TensorOrigin::NoTensor || (!isPart(block) && !abi::isPhysical(block.heap)))
    return;
  Progress &progress = progress_[block.process];
  progress.onTensor(origin, time_ns);
  births_[block.id.index] = {bornNow(origin, progress), clockOf(isPart(block)).number()};
  has_tensors_ = true;
}

void TensorKindsAnalyzer::onFree(const Block &block, FreeCause, uint64_t) {
  if (origins_->of(block.cohort) == TensorOrigin::NoTensor)
    return;
  const auto found = births_.extract(block.id.index);
  if (found.empty())
    return;
  const Birth &birth = found.mapped();
  if (const uint64_t peak = clockOf(isPart(block)).number(); birth.peak < peak)
    (isPart(block) ? pools_ : physical_).add(kindOf(birth, progress_[block.process]), block.bytes(), peak);
}

void TensorKindsAnalyzer::conclude(Conclusion &conclusion) const {
  if (!has_tensors_)
    return;
  Section section{.name = "tensor_kinds",
                  .title = "Tensors at the peak, and in pools at their own peak, by kind",
                  .columns = {{"kind", Unit::Text, Fold::Key},
                              {"bytes", Unit::Bytes},
                              {"count", Unit::Count},
                              {"pool_bytes", Unit::Bytes},
                              {"pool_count", Unit::Count}},
                  .rows = {}};
  for (size_t kind = 0; kind < kNames.size(); ++kind) {
    const BlockSum blocks = physical_.of(static_cast<TensorKind>(kind), clockOf(false).number());
    const BlockSum parts = pools_.of(static_cast<TensorKind>(kind), clockOf(true).number());
    if (blocks.count != 0 || parts.count != 0)
      section.rows.push_back({std::string(kNames[kind]), blocks.bytes, blocks.count, parts.bytes, parts.count});
  }
  std::stable_sort(section.rows.begin(), section.rows.end(), [](const auto &a, const auto &b) {
    return std::get<uint64_t>(a[1]) + std::get<uint64_t>(a[3]) > std::get<uint64_t>(b[1]) + std::get<uint64_t>(b[3]);
  });
  conclusion.result.sections.push_back(std::move(section));
}

} // namespace

MSL_REGISTER_ANALYZER(tensor_kinds, TensorKindsAnalyzer)

} // namespace msleaks::analysis::inline analyzers
