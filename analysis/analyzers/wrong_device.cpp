// Tensors on the wrong device: tensors of PyTorch in host memory that are copied to a device in step after step
// (docs/analyses.md).
#include "analysis/analyzers/copy_time.h"
#include "analysis/analyzers/registry.h"
#include "analysis/analyzers/tensor_origins.h"
#include "analysis/findings/advice.h"
#include "analysis/findings/keeper.h"

#include <fmt/format.h>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace msleaks::analysis::inline analyzers {
namespace {

constexpr uint64_t kLeastTensorBytes = 64 << 10; // smaller tensors are ignored
constexpr uint64_t kLeastAgainBytes = 1 << 20;   // of one place
constexpr uint64_t kLeastSteps = 8;

// The copies of a live tensor. Pinned memory is for copies, so it does not count.
struct Sent {
  uint64_t copies = 0, steps = 0, last_step = 0;
  SiteId site, to_site; // of the last copy
};

// The copies of the tensors of one cohort, without each tensor's first one.
struct SentAgain {
  uint64_t tensors = 0, copies = 0, bytes = 0;
  uint64_t most_steps = 0;
  SiteId site, to_site; // of a tensor with most_steps

  SentAgain &operator+=(const SentAgain &other) {
    tensors += other.tensors;
    copies += other.copies;
    bytes += other.bytes;
    if (other.most_steps > most_steps) {
      most_steps = other.most_steps;
      site = other.site;
      to_site = other.to_site;
    }
    return *this;
  }
};

struct SentOfPlace {
  Place place;
  std::vector<CohortShare> cohorts;
  SentAgain sum;
};

class WrongDeviceAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "wrong_device"; }
  bool wants(abi::Heap heap) const override { return heap == abi::Heap::Host || heap == abi::Heap::Mapping; }
  uint32_t eventKinds() const override { return abi::enabledBit(abi::EventKind::Step); }
  void useCohorts(const Cohorts &cohorts, SiteCatalog &catalog) override { origins_.emplace(cohorts, catalog); }
  void onEvent(const StreamEvent &event, SiteId) override {
    last_step_[event.process] = event.event.as<abi::StepEvent>().number + 1; // 0: before the first step
  }
  void onCopyToDevice(const Block &source, const Block &destination, const CopyToDevice &copy) override;
  void onFree(const Block &block, FreeCause, uint64_t) override;
  void conclude(Conclusion &) const override;

private:
  std::optional<TensorOrigins> origins_;
  std::unordered_map<uint32_t, uint64_t> last_step_; // by process
  std::unordered_map<uint32_t, Sent> sent_;          // by number of the tensor's block
  std::map<CohortId, SentAgain> again_;
};

void WrongDeviceAnalyzer::onCopyToDevice(const Block &source, const Block &destination, const CopyToDevice &copy) {
  if (source.size < kLeastTensorBytes || !wants(source.heap) || origins_->of(source.cohort) == TensorOrigin::NoTensor)
    return;
  Sent &sent = sent_[source.id.index];
  const uint64_t step = last_step_[source.process];
  if (sent.copies++ == 0 || step != sent.last_step)
    ++sent.steps;
  sent.last_step = step;
  sent.site = copy.site;
  sent.to_site = destination.site;
}

void WrongDeviceAnalyzer::onFree(const Block &block, FreeCause, uint64_t) {
  if (sent_.empty())
    return;
  const auto found = sent_.extract(block.id.index);
  if (found.empty() || found.mapped().steps < kLeastSteps)
    return;
  const Sent &sent = found.mapped();
  again_[block.cohort] += {1, sent.copies - 1, (sent.copies - 1) * block.size, sent.steps, sent.site, sent.to_site};
}

Draft<Finding> findingOf(const Keeper &keeper, const SentOfPlace &sent, Conclusion &conclusion) {
  auto draft = draftOf(finding_kinds::kWrongDevice, keeper, sent.place, sent.cohorts, conclusion);
  Finding &finding = draft.line;
  finding.confidence = Confidence::Hint;
  finding.saves_ns = copyNs(sent.sum.bytes);
  finding.evidence = {{"tensors", sent.sum.tensors}, {"steps", sent.sum.most_steps}};
  addLine(finding.evidence, "copied_at", sent.sum.site, conclusion);
  addLine(finding.evidence, "copied_to", sent.sum.to_site, conclusion);
  finding.advice =
      "If the values stay the same, move the tensor to the device once, before the first step. In a module, "
      "`register_buffer` makes `model.to(device)` move it, too.";
  return draft;
}

void WrongDeviceAnalyzer::conclude(Conclusion &conclusion) const {
  std::map<Keeper, SentOfPlace> by_keeper;
  for (const auto &[cohort, again] : again_)
    if (SentOfPlace *sent = ownBlocksOf(cohort, by_keeper, conclusion)) {
      sent->cohorts.push_back({cohort, again.bytes, again.copies});
      sent->sum += again;
    }
  for (const auto &[keeper, sent] : by_keeper)
    if (sent.sum.bytes >= kLeastAgainBytes)
      conclusion.add(findingOf(keeper, sent, conclusion), {});
}

} // namespace

MSL_REGISTER_ANALYZER(wrong_device, WrongDeviceAnalyzer)

} // namespace msleaks::analysis::inline analyzers
