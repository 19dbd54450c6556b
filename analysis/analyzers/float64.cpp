// Float64: tensors of PyTorch in float64, which would need half of their memory in float32 (docs/analyses.md).
#include "analysis/analyzers/float64_blocks.h"
#include "analysis/analyzers/registry.h"
#include "analysis/analyzers/tensor_origins.h"
#include "analysis/base/text.h"
#include "analysis/findings/advice.h"
#include "analysis/findings/keeper.h"
#include "msleaks/abi/torch_float64.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline analyzers {
namespace {

constexpr uint64_t kCauseOneIn = 20; // a place that made a smaller part of the bytes at the peak is no cause
constexpr size_t kMostPlacesNamed = 5;

// The blocks of float64 that one place has made.
struct Float64Place {
  Place place;
  uint64_t first_ns = UINT64_MAX;
  BlockSum at_peak;
  std::vector<CohortShare> made; // in the whole run
  uint64_t made_bytes = 0;
};

// The blocks of float64 on one heap of one device.
struct Float64Account {
  std::map<Keeper, Float64Place> places; // only places that can be a finding
  std::vector<CohortShare> at_peak;      // of all places
  BlockSum sum;                          // of at_peak
};

class Float64Analyzer final : public Analyzer {
public:
  std::string_view name() const override { return "float64"; }
  bool wants(abi::Heap heap) const override { return heap == abi::Heap::Host || heap == abi::Heap::Pool; }
  uint32_t eventKinds() const override { return abi::enabledBit(abi::EventKind::Counter); }
  void useCohorts(const Cohorts &, SiteCatalog &catalog) override { labels_ = &catalog.labels(); }
  bool usePeaks(const Peaks &peaks) override {
    peaks_ = &peaks;
    return true;
  }
  void onEvent(const StreamEvent &event, SiteId) override {
    const auto counter = event.event.as<abi::CounterEvent>();
    if (labels_->textOf(event.process, counter.label) == abi::kTorchFloat64Label)
      blocks_.announce(event.process, event.stream, counter.value);
  }
  void onAlloc(const Block &block, AllocCause, uint64_t time_ns) override { blocks_.onAlloc(block, time_ns); }
  void onFree(const Block &block, FreeCause, uint64_t) override { blocks_.onFree(block); }
  void onRetarget(const Block &block, const Block &before, uint64_t) override { blocks_.onRetarget(block, before); }
  void conclude(Conclusion &) const override;

private:
  bool hasOtherParameters(Conclusion &) const;
  void addCohort(CohortId, Float64Account &, Conclusion &) const;
  std::map<Account, Float64Account> byAccount(Conclusion &) const;
  Absence halfOf(const Account &, Conclusion &) const;

  const Labels *labels_ = nullptr;
  const Peaks *peaks_ = nullptr;
  Float64Blocks blocks_;
};

// Whether most bytes of the parameters that the program has made are not float64.
bool Float64Analyzer::hasOtherParameters(Conclusion &conclusion) const {
  TensorOrigins origins(conclusion.cohorts, conclusion.catalog);
  uint64_t float64 = 0, all = 0;
  for (uint32_t index = 1; index < conclusion.cohorts.size(); ++index)
    if (const Float64Sum &sum = blocks_.of({index});
        sum.all.count != 0 && origins.of({index}) == TensorOrigin::Construction) {
      float64 += sum.float64.bytes;
      all += sum.all.bytes;
    }
  return all - float64 > float64;
}

void Float64Analyzer::addCohort(CohortId cohort, Float64Account &account, Conclusion &conclusion) const {
  Float64Place *at = ownBlocksOf(cohort, account.places, conclusion);
  if (!at)
    return;
  const Float64Sum &sum = blocks_.of(cohort);
  at->first_ns = std::min(at->first_ns, sum.first_ns);
  at->made.push_back({cohort, sum.float64.bytes, sum.float64.count});
  at->made_bytes += sum.float64.bytes;
}

std::map<Account, Float64Account> Float64Analyzer::byAccount(Conclusion &conclusion) const {
  std::map<Account, Float64Account> accounts;
  for (uint32_t index = 1; index < conclusion.cohorts.size(); ++index)
    if (const Cohort &cohort = conclusion.cohorts[{index}]; blocks_.of({index}).float64.bytes != 0)
      addCohort({index}, accounts[{cohort.heap, cohort.device}], conclusion);
  for (auto &[account, tensors] : accounts)
    for (const CohortShare &share : peaks_->of(account).shares()) {
      const Float64Sum &sum = blocks_.of(share.cohort);
      const BlockSum part{sum.bytesIn(share.bytes), sum.blocksIn(share.count)};
      if (part.bytes == 0)
        continue;
      tensors.at_peak.push_back({share.cohort, part.bytes, part.count});
      tensors.sum += part;
      if (Float64Place *at = ownBlocksOf(share.cohort, tensors.places, conclusion))
        at->at_peak += part;
    }
  return accounts;
}

// The bytes that float32 would spare, at each local maximum. The history has the bytes of each cohort there, so no
// freed block needs to be kept.
Absence Float64Analyzer::halfOf(const Account &account, Conclusion &conclusion) const {
  Absence half;
  const std::vector<uint64_t> times = conclusion.timesOfCurves();
  conclusion.history().forEachChange([&](size_t number, CohortId cohort, LifePart, int64_t bytes) {
    const Cohort &of = conclusion.cohorts[cohort];
    if (of.heap != account.heap || of.device != account.device)
      return;
    const auto part = static_cast<int64_t>(blocks_.of(cohort).bytesIn(static_cast<uint64_t>(std::abs(bytes))) / 2);
    if (part != 0)
      half.blocks.push_back({cohort, bytes < 0 ? -part : part, times[number]});
  });
  return half;
}

// The earliest of the places that made enough to be the cause: operators make float64 of float64. None: there is none.
const std::pair<const Keeper, Float64Place> *causeOf(const Float64Account &account) {
  const std::pair<const Keeper, Float64Place> *cause = nullptr;
  for (const auto &place : account.places)
    if (place.second.made_bytes >= account.sum.bytes / kCauseOneIn &&
        (!cause || place.second.first_ns < cause->second.first_ns))
      cause = &place;
  return cause;
}

// "48.0 MiB of train.py:12", the places with the most bytes at the peak.
std::vector<std::string> namesOf(const Float64Account &account, Conclusion &conclusion) {
  std::vector<std::pair<uint64_t, std::string>> places;
  for (const auto &[keeper, at] : account.places)
    if (at.at_peak.bytes != 0)
      places.emplace_back(at.at_peak.bytes, lineOf(textOf(conclusion.catalog, at.place)));
  std::stable_sort(places.begin(), places.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
  places.resize(std::min(places.size(), kMostPlacesNamed));
  std::vector<std::string> names;
  for (const auto &[bytes, line] : places)
    names.push_back(fmt::format("{} of {}", bytesText(bytes), line));
  return names;
}

std::string adviceOf(bool by_mistake) {
  return fmt::format("{} `torch.tensor(x, dtype=torch.float32)`, `torch.from_numpy(x).float()` or "
                     "`x.astype(numpy.float32)`.",
                     by_mistake
                         ? "The parameters are not float64. This line makes the first large tensors of float64, "
                           "and each operator on them makes more. Convert the data here, for example by"
                         : "If float32 is precise enough, use it for all parameters (`model.float()`) and data:");
}

void Float64Analyzer::conclude(Conclusion &conclusion) const {
  if (conclusion.question.policy != Policy::Effect || blocks_.empty())
    return;
  const bool by_mistake = hasOtherParameters(conclusion);
  for (auto &[account, tensors] : byAccount(conclusion)) {
    const auto *cause = causeOf(tensors);
    Absence half = halfOf(account, conclusion);
    if (!cause || !conclusion.isWorthSaving(account, half))
      continue;
    const auto &[keeper, at] = *cause;
    auto draft = draftOf(finding_kinds::kFloat64, keeper, at.place, at.made, conclusion);
    draft.line.bytes = tensors.sum.bytes;
    draft.line.count = tensors.sum.count;
    draft.line.confidence = by_mistake && keeper.closed_library.empty() ? Confidence::Likely : Confidence::Hint;
    draft.line.evidence = {{"place_bytes", at.at_peak.bytes}, {"places", namesOf(tensors, conclusion)}};
    draft.line.advice = adviceOf(by_mistake);
    conclusion.add(std::move(draft), std::move(half));
  }
}

} // namespace

MSL_REGISTER_ANALYZER(float64, Float64Analyzer)

} // namespace msleaks::analysis::inline analyzers
