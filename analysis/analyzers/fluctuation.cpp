// Fluctuation: the least and the most memory of each heap and pool within a step, and their ratio (docs/analyses.md).
#include "analysis/analyzers/registry.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <tuple>

namespace msleaks::analysis::inline analyzers {
namespace {

// The least and the most memory of a heap within a step.
struct Span {
  uint64_t step = 0; // as the program counts
  uint64_t smallest_bytes = 0, largest_bytes = 0;
  double ratio() const { return static_cast<double>(smallest_bytes) / static_cast<double>(largest_bytes); }
};

// A heap of a process. If the heap belongs to devices, each device counts separately.
using HeapOfProcess = std::tuple<uint32_t, abi::Heap, uint8_t>;

struct Level {
  uint64_t now_bytes = 0;
  Span step; // the present step
  std::optional<Span> least_steady, steadiest;

  void endStep(uint64_t number) {
    if (step.largest_bytes == 0)
      return;
    step.step = number;
    if (!least_steady || step.ratio() < least_steady->ratio())
      least_steady = step;
    if (!steadiest || step.ratio() > steadiest->ratio())
      steadiest = step;
  }
  void beginStep() { step = {0, now_bytes, now_bytes}; }
};

class FluctuationAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "fluctuation"; }
  uint32_t eventKinds() const override { return abi::enabledBit(abi::EventKind::Step); }

  void onEvent(const StreamEvent &event, SiteId) override;
  void onAlloc(const Block &block, AllocCause, uint64_t) override {
    if (block.bytes() == 0)
      return;
    Level &level = levelOf(block);
    level.now_bytes += block.bytes();
    level.step.largest_bytes = std::max(level.step.largest_bytes, level.now_bytes);
  }
  void onFree(const Block &block, FreeCause, uint64_t) override {
    if (block.bytes() == 0)
      return;
    Level &level = levelOf(block);
    level.now_bytes -= block.bytes();
    level.step.smallest_bytes = std::min(level.step.smallest_bytes, level.now_bytes);
  }
  void conclude(Conclusion &) const override;

private:
  struct Steps {
    uint64_t begun = 0, last_number = 0;
  };
  Level &levelOf(const Block &block) {
    Level *&level = elementAt(by_cohort_, block.cohort.index);
    if (!level)
      level = &levels_[{block.process, block.heap, block.device}];
    return *level;
  }

  std::map<HeapOfProcess, Level> levels_; // elements of a map do not move
  std::vector<Level *> by_cohort_;
  std::map<uint32_t, Steps> steps_; // by process
};

void FluctuationAnalyzer::onEvent(const StreamEvent &event, SiteId) {
  const uint64_t number = event.event.as<abi::StepEvent>().number;
  Steps &steps = steps_[event.process];
  if (steps.begun != 0 && steps.last_number == number)
    return; // another thread reported the same step
  constexpr uint64_t kWarmUpSteps = 1;
  const bool judges = steps.begun > kWarmUpSteps;
  for (auto at = levels_.lower_bound({event.process, abi::Heap{}, 0});
       at != levels_.end() && std::get<uint32_t>(at->first) == event.process; ++at) {
    if (judges)
      at->second.endStep(steps.last_number);
    at->second.beginStep();
  }
  ++steps.begun;
  steps.last_number = number;
}

void FluctuationAnalyzer::conclude(Conclusion &conclusion) const {
  Section section{.name = "fluctuation",
                  .title = "Fluctuation within a step: the most and the least",
                  .columns = {{"process", Unit::Text, Fold::Key},
                              {"heap", Unit::Text, Fold::Key},
                              {"step", Unit::Count, Fold::Key},
                              {"smallest", Unit::Bytes, Fold::First},
                              {"largest", Unit::Bytes, Fold::First},
                              {"ratio", Unit::Count, Fold::First}},
                  .rows = {}};
  for (const auto &[memory, level] : levels_) {
    const auto [process, heap, device] = memory;
    const std::string name = abi::spaceOf(heap) == abi::AddressSpace::Accelerator
                                 ? fmt::format("{} {}", abi::nameOf(heap), device)
                                 : std::string(abi::nameOf(heap));
    const bool differ = level.steadiest && level.steadiest->step != level.least_steady->step;
    for (const auto &span : {level.least_steady, differ ? level.steadiest : std::nullopt})
      if (span)
        section.rows.push_back({conclusion.names.process(process), name, span->step, span->smallest_bytes,
                                span->largest_bytes, span->ratio()});
  }
  if (!section.rows.empty())
    conclusion.result.sections.push_back(std::move(section));
}

} // namespace

MSL_REGISTER_ANALYZER(fluctuation, FluctuationAnalyzer)

} // namespace msleaks::analysis::inline analyzers
