// Loaded: arrays that the program has read from a file stay alive beside parameters or states of an optimizer. These
// have the same sizes. So the program has copied the arrays, and needs only one of both (docs/analyses.md).
#include "analysis/analyzers/registry.h"
#include "analysis/analyzers/size_pairs.h"
#include "analysis/base/tables.h"
#include "analysis/findings/advice.h"
#include "analysis/findings/keeper.h"
#include "analysis/places/path_answers.h"
#include "analysis/places/torch_functions.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline analyzers {
namespace {

constexpr uint64_t kLeastPairBytes = 4096;   // of smaller blocks, many have the same size
constexpr uint64_t kLeastOtherBytes = 65536; // such a block, of another path, is allocated after the loading
constexpr size_t kMostLoaded = 100'000;      // freed blocks, to compute their cost at the end
constexpr uint64_t kPairedOneIn = 4; // a file may also contain the state of an optimizer, as large as two models

enum class Origin : uint8_t { Other, File, Parameters, State };

// The call that allocated the blocks of each cohort.
class LoadOrigins {
public:
  LoadOrigins(const Cohorts &cohorts, SiteCatalog &catalog)
      : cohorts_(cohorts), catalog_(catalog), paths_(catalog, 0) {}

  Origin of(CohortId cohort) {
    std::optional<Origin> &known = elementAt(by_cohort_, cohort.index);
    if (!known)
      known = static_cast<Origin>(find(cohorts_[cohort].site));
    return *known;
  }

private:
  uint32_t find(SiteId site) {
    return paths_.of(catalog_.innermostNodeOf(site), [&](uint32_t outer, SiteId call) {
      const Site *python = static_cast<Origin>(outer) == Origin::File ? nullptr : catalog_.pythonCallOf(call);
      if (python == nullptr)
        return outer;
      return static_cast<uint32_t>(loadsArrays(python->file, python->function)         ? Origin::File
                                   : buildsTorchModule(python->file, python->function) ? Origin::Parameters
                                   : loadsOptimizer(python->file, python->function)    ? Origin::State
                                                                                       : static_cast<Origin>(outer));
    });
  }

  const Cohorts &cohorts_;
  SiteCatalog &catalog_;
  PathAnswers paths_;
  std::vector<std::optional<Origin>> by_cohort_; // none: not asked
};

// A block from a file, while its copy was alive: a block of the same size, of a model or of an optimizer's state.
struct Loaded {
  CohortId cohort, copy;
  Origin origin = Origin::Other; // of the copy
  uint64_t bytes = 0;
  uint64_t from_ns = 0, to_ns = 0;
};

struct LoadedBlocks : KeptBlocks {
  uint64_t loaded_bytes = 0;                           // also those without a copy
  const Loaded *parameter = nullptr, *state = nullptr; // the largest of both kinds
};

class LoadedAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "loaded"; }
  bool wants(abi::Heap heap) const override { return heap == abi::Heap::Host || heap == abi::Heap::Pool; }
  void useCohorts(const Cohorts &cohorts, SiteCatalog &catalog) override { origins_.emplace(cohorts, catalog); }
  void onAlloc(const Block &block, AllocCause cause, uint64_t time_ns) override;
  void onFree(const Block &block, FreeCause, uint64_t time_ns) override;
  void onRetarget(const Block &block, const Block &, uint64_t) override { pairs_.change(block); }
  void conclude(Conclusion &) const override;

private:
  void addLoaded(const Block &, uint64_t time_ns);
  std::map<Keeper, LoadedBlocks> byKeeper(Conclusion &) const;

  std::optional<LoadOrigins> origins_;
  SizePairs pairs_;
  // The time of the last block of a loading. A loading is a sequence of blocks from files, which ends when the program
  // allocates another large block.
  using Loading = std::shared_ptr<uint64_t>;
  Loading loading_;                                // the one that goes on
  std::unordered_map<uint32_t, Loading> loadings_; // by number of the live block
  std::vector<uint64_t> bytes_;                    // by cohort: of all blocks from files
  std::vector<Loaded> loaded_;
};

void LoadedAnalyzer::addLoaded(const Block &block, uint64_t time_ns) {
  pairs_.expectSpares(loading_ == nullptr);
  if (!loading_)
    loading_ = std::make_shared<uint64_t>();
  *loading_ = time_ns;
  loadings_[block.id.index] = loading_;
  elementAt(bytes_, block.cohort.index) += block.size;
}

void LoadedAnalyzer::onAlloc(const Block &block, AllocCause, uint64_t time_ns) {
  if (block.bytes() < kLeastPairBytes)
    return;
  const Origin origin = origins_->of(block.cohort);
  if (origin == Origin::File)
    addLoaded(block, time_ns);
  else if (block.size >= kLeastOtherBytes)
    loading_.reset();
  if (origin != Origin::Other)
    pairs_.add(origin == Origin::File ? SizePairs::Role::Spare : SizePairs::Role::Needed, block);
}

void LoadedAnalyzer::onFree(const Block &block, FreeCause cause, uint64_t time_ns) {
  if (block.bytes() < kLeastPairBytes)
    return;
  const auto end = isEnd(cause) ? SizePairs::End::OfProcess : SizePairs::End::Dropped;
  if (const auto pair = pairs_.remove(block, end); pair && loaded_.size() < kMostLoaded)
    loaded_.push_back({pair->spare.cohort, pair->needed.cohort, origins_->of(pair->needed.cohort), pair->spare.size,
                       *loadings_.at(pair->spare.id.index), time_ns});
  loadings_.erase(block.id.index);
}

std::map<Keeper, LoadedBlocks> LoadedAnalyzer::byKeeper(Conclusion &conclusion) const {
  std::map<Keeper, LoadedBlocks> by_keeper;
  for (const Loaded &loaded : loaded_) {
    if (loaded.to_ns <= loaded.from_ns)
      continue;
    LoadedBlocks *blocks = ownBlocksOf(loaded.cohort, by_keeper, conclusion);
    if (!blocks)
      continue;
    blocks->add(loaded.cohort, loaded.bytes, loaded.from_ns, loaded.to_ns);
    if (const Loaded *&largest = loaded.origin == Origin::State ? blocks->state : blocks->parameter;
        !largest || loaded.bytes > largest->bytes)
      largest = &loaded;
  }
  for (uint32_t index = 1; index < bytes_.size(); ++index)
    if (bytes_[index] != 0)
      if (const auto kept = ownKeeperOf(conclusion.cohorts[{index}], conclusion))
        if (const auto blocks = by_keeper.find(kept->keeper); blocks != by_keeper.end())
          blocks->second.loaded_bytes += bytes_[index];
  return by_keeper;
}

Draft<Finding> findingOf(const Keeper &keeper, const LoadedBlocks &blocks, Conclusion &conclusion) {
  auto draft = draftOf(finding_kinds::kCopy, keeper, blocks.place, blocks.cohorts, conclusion);
  Finding &finding = draft.line;
  finding.byte_seconds = byteSecondsOf(blocks.byte_ns);
  finding.evidence = {{"idle_ns", blocks.longest_ns}};
  std::string copies;
  for (const auto &[loaded, evidence, thing] : {std::tuple(blocks.parameter, "parameters_at", "parameters"),
                                                std::tuple(blocks.state, "state_at", "optimizer states")})
    if (loaded) {
      const std::string made_at = lineOf(conclusion.cohorts[loaded->copy].site, conclusion);
      finding.evidence.emplace_back(evidence, made_at);
      copies += fmt::format("{} {} that {} made", copies.empty() ? "The" : " and the", thing, made_at);
    }
  finding.advice = copies +
                   " have the same sizes. After `load_state_dict`, drop each reference to what was loaded here "
                   "(`del`)";
  finding.advice += blocks.parameter
                        ? ", or load with `mmap=True`, or let `load_state_dict(..., assign=True)` take the "
                          "tensors."
                        : ".";
  return draft;
}

void LoadedAnalyzer::conclude(Conclusion &conclusion) const {
  if (conclusion.question.policy != Policy::Effect)
    return;
  auto by_keeper = byKeeper(conclusion);
  std::erase_if(by_keeper, [](const auto &of) {
    uint64_t paired_bytes = 0;
    for (const CohortShare &share : of.second.cohorts)
      paired_bytes += share.bytes;
    return paired_bytes < of.second.loaded_bytes / kPairedOneIn;
  });
  addFindings(by_keeper, conclusion,
              [&](const Keeper &keeper, const LoadedBlocks &blocks) { return findingOf(keeper, blocks, conclusion); });
}

} // namespace

MSL_REGISTER_ANALYZER(loaded, LoadedAnalyzer)

} // namespace msleaks::analysis::inline analyzers
