// Out of memory: requests that were refused, and the memory that was in use then (docs/analyses.md).
#include "analysis/analyzers/registry.h"
#include "analysis/base/text.h"
#include "analysis/findings/advice.h"
#include "analysis/live/refusals.h"
#include "analysis/result/finding_kinds.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <unordered_map>

namespace msleaks::analysis::inline analyzers {
namespace {

class OutOfMemoryAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "out_of_memory"; }
  uint32_t eventKinds() const override { return abi::enabledBit(abi::EventKind::AllocFailed); }

  void onEvent(const StreamEvent &event, SiteId site) override {
    const auto failed = event.event.as<abi::AllocFailedEvent>();
    if (!asksForMemory(failed.header.heap))
      return;
    const uint8_t device = failed.header.device;
    const Refusals::Asker asker{event.process, event.stream, site, failed.header.heap, device};
    refusals_.refuse(asker, {failed.size, failed.status, failed.header.time});
    alive_then_[asker] =
        failed.header.heap < abi::Heap::Count ? aliveOf(event.process)[indexOf(failed.header.heap)] : 0;
  }
  void onAlloc(const Block &block, AllocCause cause, uint64_t time_ns) override {
    aliveOf(block.process)[indexOf(block.heap)] += block.bytes();
    if (cause == AllocCause::Allocated || cause == AllocCause::Reallocated)
      refusals_.give(block.process, block.stream, block.site, time_ns);
  }
  void onFree(const Block &block, FreeCause, uint64_t) override {
    aliveOf(block.process)[indexOf(block.heap)] -= block.bytes();
  }
  void onProcessEnd(uint32_t process, const ProcessFate &fate) override { fates_[process] = fate; }
  void conclude(Conclusion &) const override;

private:
  using Bytes = std::array<uint64_t, static_cast<size_t>(abi::Heap::Count)>;
  static size_t indexOf(abi::Heap heap) { return static_cast<size_t>(heap); }
  Bytes &aliveOf(uint32_t process) {
    if (last_ == nullptr || process != last_process_) {
      last_ = &alive_[process];
      last_process_ = process;
    }
    return *last_;
  }
  bool endedBadly(uint32_t process) const;
  Section refusedByPlace(Conclusion &) const;
  struct AtPlace;
  void addFinding(const AtPlace &, Conclusion &) const;

  Refusals refusals_;
  std::map<Refusals::Asker, uint64_t> alive_then_; // bytes of the process in this heap, at the last refusal
  std::unordered_map<uint32_t, Bytes> alive_;      // by process
  Bytes *last_ = nullptr;                          // elements of the map do not move
  uint32_t last_process_ = 0;
  std::unordered_map<uint32_t, ProcessFate> fates_;
};

bool OutOfMemoryAnalyzer::endedBadly(uint32_t process) const {
  const auto at = fates_.find(process);
  return at != fates_.end() && (at->second.cause == FreeCause::ProcessKilled || at->second.exit_status > 0);
}

Section OutOfMemoryAnalyzer::refusedByPlace(Conclusion &conclusion) const {
  Section section{"refused",
                  "Refused allocations",
                  {{"place", Unit::Place, Fold::Key},
                   {"count", Unit::Count},
                   {"largest_bytes", Unit::Bytes, Fold::Largest},
                   {"answered", Unit::Count}},
                  {}};
  std::map<SiteId, Refusals::Sum> by_site;
  for (const auto &[asker, sum] : refusals_.sums()) {
    Refusals::Sum &all = by_site[asker.site];
    all.count += sum.count;
    all.answered += sum.answered;
    all.largest_bytes = std::max(all.largest_bytes, sum.largest_bytes);
  }
  for (const auto &[site, sum] : by_site)
    section.rows.push_back(
        {std::make_shared<const SiteText>(textOf(conclusion.catalog, conclusion.lines.places().of(site))), sum.count,
         sum.largest_bytes, sum.answered});
  return section;
}

// The refusals at one place, from one heap, in all threads and processes.
struct OutOfMemoryAnalyzer::AtPlace {
  Place place;
  std::vector<SiteShare> shares;
  Refusals::Asker asker; // of the last refusal
  Refusals::Refusal last;
  bool ended_badly = false;
};

void OutOfMemoryAnalyzer::addFinding(const AtPlace &at, Conclusion &conclusion) const {
  auto draft = conclusion.lines.lineOf<Finding>({at.place, at.shares}, Lines::Paths::Shown);
  Finding &finding = draft.line;
  setKind(finding, finding_kinds::kOutOfMemory);
  finding.confidence = at.ended_badly ? Confidence::Likely : Confidence::Hint;
  finding.heap = at.asker.heap;
  finding.device = at.asker.device;
  finding.bytes = at.last.bytes;
  finding.owner = finding.site.library;
  finding.evidence = {{"status", at.last.status},
                      {"time_ns", at.last.time_ns},
                      {"alive_bytes", alive_then_.at(at.asker)},
                      {"process", conclusion.names.process(at.asker.process)},
                      {"thread", conclusion.names.thread(at.asker.process, at.asker.stream)}};
  finding.advice = fmt::format("`msleaks oom` lists what was alive when {} asked for {}, and what to free first.",
                               functionIn(finding.site), bytesText(at.last.bytes));
  conclusion.add(std::move(draft), {});
}

void OutOfMemoryAnalyzer::conclude(Conclusion &conclusion) const {
  if (Section section = refusedByPlace(conclusion); !section.rows.empty())
    conclusion.result.sections.push_back(std::move(section));
  std::map<std::pair<Place::Key, Account>, AtPlace> places;
  for (const auto &[asker, sum] : refusals_.sums()) {
    const Place place = conclusion.lines.places().of(asker.site);
    if (!place.own || !sum.isOutOfMemory())
      continue;
    AtPlace &at = places[{place.keyIn(conclusion.catalog), {asker.heap, asker.device}}];
    at.shares.push_back({asker.site, sum.last.bytes, sum.count - sum.answered});
    at.ended_badly |= endedBadly(asker.process);
    if (sum.last.time_ns < at.last.time_ns)
      continue;
    at.place = place;
    at.asker = asker;
    at.last = sum.last;
  }
  for (const auto &[key, at] : places)
    addFinding(at, conclusion);
}

} // namespace

MSL_REGISTER_ANALYZER(out_of_memory, OutOfMemoryAnalyzer)

} // namespace msleaks::analysis::inline analyzers
