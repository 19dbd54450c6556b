// Recompiles: torch.compile compiles a function again and again for other shapes or other values (docs/analyses.md).
#include "analysis/analyzers/compilations.h"
#include "analysis/analyzers/registry.h"
#include "analysis/base/tables.h"
#include "analysis/findings/keeper.h"
#include "analysis/places/path_answers.h"
#include "analysis/places/torch_functions.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline analyzers {
namespace {

// PyTorch compiles a function for the first shape, and for all others when it meets the second.
constexpr uint64_t kLeastCompilations = 3;

// The compilations at one line, for one module of PyTorch. All but the first are recompilations.
struct Recompiles {
  Place place;
  uint64_t compilations = 0;
  uint64_t again_ns = 0;
  std::map<CohortId, BlockSum> kept; // by recompilations

  void add(const Compilation &compilation) {
    if (compilations++ == 0)
      return;
    again_ns += compilation.end_ns - compilation.begin_ns;
    for (const auto &[cohort, blocks] : compilation.kept)
      kept[cohort] += blocks;
  }
};

struct RecompiledLine {
  uint32_t process;
  Keeper keeper;
  std::string module;
  bool operator<(const RecompiledLine &other) const {
    return std::tie(process, keeper, module) < std::tie(other.process, other.keeper, other.module);
  }
};

class RecompilesAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "recompiles"; }
  bool wants(abi::Heap heap) const override { return heap == abi::Heap::Host; }
  void useCohorts(const Cohorts &cohorts, SiteCatalog &catalog) override {
    cohorts_ = &cohorts;
    catalog_ = &catalog;
    paths_.emplace(catalog, 0);
  }
  void onAlloc(const Block &block, AllocCause, uint64_t time_ns) override {
    compilations_.onAlloc(block, isByCompiler(block.cohort), time_ns);
  }
  void onFree(const Block &block, FreeCause cause, uint64_t) override { compilations_.onFree(block, isEnd(cause)); }
  void conclude(Conclusion &) const override;

private:
  bool isByCompiler(CohortId);
  std::map<RecompiledLine, Recompiles> byLine(Conclusion &) const;

  const Cohorts *cohorts_ = nullptr;
  SiteCatalog *catalog_ = nullptr;
  std::optional<PathAnswers> paths_;           // 1: the path has a call that compiles
  std::vector<std::optional<bool>> by_cohort_; // none: not asked
  Compilations compilations_;
};

bool RecompilesAnalyzer::isByCompiler(CohortId cohort) {
  std::optional<bool> &known = elementAt(by_cohort_, cohort.index);
  if (!known)
    known =
        paths_->of(catalog_->innermostNodeOf((*cohorts_)[cohort].site), [&](uint32_t outer, SiteId call) -> uint32_t {
          const Site *python = outer != 0 ? nullptr : catalog_->pythonCallOf(call);
          return outer != 0 || (python != nullptr && compilesTorchFunction(python->file, python->function));
        }) != 0;
  return *known;
}

std::map<RecompiledLine, Recompiles> RecompilesAnalyzer::byLine(Conclusion &conclusion) const {
  std::map<RecompiledLine, Recompiles> by_line;
  for (const Compilation &compilation : compilations_.all()) {
    std::vector<CohortShare> shares;
    for (const auto &[cohort, bytes] : compilation.bytes)
      shares.push_back({cohort, bytes, 1});
    const auto most = keeperOfMost(shares, conclusion);
    if (!most)
      continue;
    const SiteId site = conclusion.cohorts[most->second.cohorts.front().cohort].site;
    Recompiles &recompiles =
        by_line[{compilation.process, most->first, std::string(conclusion.catalog.moduleOf(site))}];
    recompiles.place = most->second.place;
    recompiles.add(compilation);
  }
  return by_line;
}

void RecompilesAnalyzer::conclude(Conclusion &conclusion) const {
  for (const auto &[line, recompiles] : byLine(conclusion)) {
    if (recompiles.compilations < kLeastCompilations)
      continue;
    std::vector<CohortShare> shares;
    for (const auto &[cohort, kept] : recompiles.kept)
      shares.push_back({cohort, kept.bytes, kept.count});
    auto draft = draftOf(finding_kinds::kRecompiles, line.keeper, recompiles.place, shares, conclusion);
    draft.line.confidence = Confidence::Hint;
    draft.line.saves_ns = recompiles.again_ns;
    draft.line.evidence = {{"compilations", recompiles.compilations}};
    draft.line.advice = "Compile it once for all shapes: `torch.compile(..., dynamic=True)`, "
                        "`torch._dynamo.mark_dynamic`, or pad the inputs to a few shapes. TORCH_LOGS=recompiles prints "
                        "the reason of each compilation.";
    conclusion.add(std::move(draft), {});
  }
}

} // namespace

MSL_REGISTER_ANALYZER(recompiles, RecompilesAnalyzer)

} // namespace msleaks::analysis::inline analyzers
