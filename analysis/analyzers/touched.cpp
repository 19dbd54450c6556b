// Touched: large host blocks that are never touched, touched late, or touched only in part. The page tables show this
// while the program runs (docs/analyses.md).
#include "analysis/analyzers/grown_blocks.h"
#include "analysis/analyzers/registry.h"
#include "analysis/base/text.h"
#include "analysis/findings/advice.h"
#include "analysis/findings/keeper.h"
#include "analysis/places/place.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <unordered_map>

namespace msleaks::analysis::inline analyzers {
namespace {

// Keeps at most this many freed blocks of each kind, to compute their cost at the end.
constexpr size_t kMostWastes = 100'000;
constexpr size_t kMostWasteRows = 1000;

enum class Waste : uint8_t { Unused, Early, Rest, Capacity, Count };

constexpr std::array<FindingKind, static_cast<size_t>(Waste::Count)> kWasteKinds{
    finding_kinds::kUnused, finding_kinds::kEarlyAllocation, finding_kinds::kOverallocated, finding_kinds::kCapacity};

std::string adviceOf(Waste waste, uint64_t touched_bytes, const Finding &finding) {
  const std::string function = functionIn(finding.site), thing = thingOf(finding);
  switch (waste) {
  case Waste::Unused:
    return fmt::format("Remove the allocation in {}, or allocate {} where the program needs {}. Pages that nothing "
                       "touches take address space, not memory.",
                       function, thing, pronounOf(finding));
  case Waste::Early:
    return fmt::format("Allocate {} just before the first access instead of in {}.", thing, function);
  case Waste::Capacity:
    return fmt::format("Give back the rest when {} has grown for the last time in {}, or ask for the final size at "
                       "once: the program touches {}.",
                       thing, function, bytesText(touched_bytes));
  default:
    return fmt::format("Ask for less in {}: the program touches {} of {}. Pages that nothing touches take address "
                       "space, not memory.",
                       function, bytesText(touched_bytes), thing);
  }
}

// The facts about a live block whose pages were looked at.
struct Touched {
  uint64_t bytes = 0;
  uint64_t until_ns = 0;   // nothing was touched until then; 0 = the block is not early (isEarly)
  uint64_t by_ns = 0;      // something was touched by then; 0 = the same
  uint64_t first_look = 0; // number of the first look at the block
  bool known = false;
  bool is_last = false; // the last look was just before its free
};

// Sums over a cohort's blocks for which the touched bytes are known at their end.
struct TouchedSum {
  uint64_t bytes = 0, count = 0, touched_bytes = 0;

  TouchedSum &operator+=(const TouchedSum &other) {
    bytes += other.bytes;
    count += other.count;
    touched_bytes += other.touched_bytes;
    return *this;
  }
};

// Bytes of a block that were not needed from `from_ns` to `to_ns`.
struct Wasted {
  CohortId cohort;
  uint64_t bytes = 0, touched_bytes = 0;
  uint64_t from_ns = 0, to_ns = 0;
  uint64_t needed_by_ns = 0; // the latest time at which the program may have needed them; 0 = `to_ns`
  bool is_former = false;    // another block replaced it
};

struct Look {
  uint64_t number = 0; // of the looks at this process, from 1
  uint64_t begin_ns = 0;
  bool at_exit = false;
};

class TouchedAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "touched"; }
  bool wants(abi::Heap heap) const override { return heap == abi::Heap::Host || heap == abi::Heap::Mapping; }
  uint32_t eventKinds() const override {
    return abi::enabledBit(abi::EventKind::Pages) | abi::enabledBit(abi::EventKind::Copy);
  }
  void onAlloc(const Block &block, AllocCause cause, uint64_t) override {
    grown_.onAlloc(block, cause);
    if (cause == AllocCause::Reallocated && !given_back_.empty())
      endRealloc(block);
  }
  void onEvent(const StreamEvent &event, SiteId) override {
    if (event.event.header().kind == abi::EventKind::Copy) {
      const auto copy = event.event.as<abi::CopyEvent>();
      if (copy.header.heap == abi::Heap::Host)
        grown_.onCopy(event.process, copy.destination, copy.source);
      return;
    }
    const auto pages = event.event.as<abi::PagesEvent>();
    if (pages.address == 0)
      looks_[event.process] = {looks_[event.process].number + 1, pages.allocated_ns, pages.at_exit != 0};
  }
  void onPages(const Block &block, const TouchedPages &pages) override {
    if (pages.is_sample)
      return; // samples.cpp
    Touched &touched = blocks_[block.id.index];
    least_bytes_ = std::min(least_bytes_, block.size);
    const Look &last = looks_[block.process];
    if (!touched.known)
      touched.first_look = last.number + 1;
    if (touched.known && touched.bytes == 0 && pages.bytes != 0 && isEarly(block, touched, last, pages.time_ns)) {
      touched.until_ns = last.begin_ns;
      touched.by_ns = pages.time_ns;
    }
    touched.known = true;
    touched.is_last = pages.is_last;
    touched.bytes = std::max(touched.bytes, pages.bytes); // the program may give pages back
  }
  void onFree(const Block &block, FreeCause, uint64_t time_ns) override;
  void conclude(Conclusion &) const override;

private:
  Touched take(const Block &block) {
    if (block.size < least_bytes_)
      return {};
    const auto found = blocks_.extract(block.id.index);
    return found.empty() ? Touched{} : found.mapped();
  }
  void endRealloc(const Block &);
  bool isFinal(const Touched &, const Block &, FreeCause) const;
  static bool isEarly(const Block &, const Touched &, const Look &last, uint64_t by_ns);
  void add(Waste, const Wasted &);
  void concludeOn(Waste, Conclusion &) const;
  void addSection(Conclusion &) const;

  GrownBlocks grown_;
  std::vector<TouchedSum> sums_;                 // by cohort
  std::unordered_map<uint32_t, Touched> blocks_; // live ones that were looked at, by number
  uint64_t least_bytes_ = UINT64_MAX;            // of these blocks, also the freed ones
  std::unordered_map<uint32_t, Look> looks_;     // by process: the last look at all of its blocks
  std::array<std::vector<Wasted>, static_cast<size_t>(Waste::Count)> wastes_;
  // By process: the waste and the size of a block that a realloc has freed. The realloc has not returned yet.
  struct GivenBackWaste {
    Waste waste;
    Wasted wasted;
    uint64_t size;
  };
  std::unordered_map<uint32_t, GivenBackWaste> given_back_;
};

void TouchedAnalyzer::add(Waste waste, const Wasted &wasted) {
  auto &list = wastes_[static_cast<size_t>(waste)];
  if (wasted.bytes > 0 && list.size() < kMostWastes)
    list.push_back(wasted);
}

// Whether the last look tells the whole life of the block: it may have been touched later.
bool TouchedAnalyzer::isFinal(const Touched &touched, const Block &block, FreeCause cause) const {
  if (touched.is_last || touched.bytes >= block.size)
    return true;
  const auto look = looks_.find(block.process);
  return isEnd(cause) && look != looks_.end() && look->second.at_exit;
}

// Whether a block that nothing had touched until the last look was allocated too early. The program has touched it by
// `by_ns`. A single look may by chance be between the allocation and a first touch that follows at once. Then the look
// proves only a short wait, compared with the time in which the touch happened.
bool TouchedAnalyzer::isEarly(const Block &block, const Touched &touched, const Look &last, uint64_t by_ns) {
  constexpr uint64_t kShortOneIn = 4;
  return last.begin_ns > block.time_ns &&
         (last.number > touched.first_look || (last.begin_ns - block.time_ns) * kShortOneIn >= by_ns - last.begin_ns);
}

void TouchedAnalyzer::onFree(const Block &block, FreeCause cause, uint64_t time_ns) {
  const bool is_large = block.size >= GrownBlocks::kLeastBytes;
  const Waste rest = is_large && grown_.isGrown(block) ? Waste::Capacity : Waste::Rest;
  const bool is_shrunk = is_large && grown_.isShrunk(block);
  const Touched touched = take(block);
  const bool is_final = touched.known && isFinal(touched, block, cause);
  std::vector<FormerBlock> formers;
  if (is_large || cause == FreeCause::Reallocated)
    formers = grown_.onFree(block, cause, time_ns, !is_final);
  if (!touched.known || block.bytes() == 0)
    return;
  if (touched.until_ns != 0)
    add(Waste::Early, {.cohort = block.cohort,
                       .bytes = block.size,
                       .touched_bytes = touched.bytes,
                       .from_ns = block.time_ns,
                       .to_ns = touched.until_ns,
                       .needed_by_ns = touched.by_ns});
  if (!is_final)
    return;
  elementAt(sums_, block.cohort.index) += {block.size, 1, touched.bytes};
  const Wasted wasted{.cohort = block.cohort,
                      .bytes = block.size - std::min(touched.bytes, block.size),
                      .touched_bytes = touched.bytes,
                      .from_ns = block.time_ns,
                      .to_ns = time_ns};
  if (touched.bytes == 0)
    return add(Waste::Unused, wasted);
  if (is_shrunk)
    return;
  if (cause == FreeCause::Reallocated)
    given_back_[block.process] = {rest, wasted, block.size};
  else
    add(rest, wasted);
  // This block contains the pages of a former block, so at most as much of the former block was touched.
  for (const FormerBlock &former : formers)
    if (rest == Waste::Capacity && former.size > touched.bytes)
      add(rest, {.cohort = former.cohort,
                 .bytes = former.size - touched.bytes,
                 .from_ns = former.from_ns,
                 .to_ns = former.to_ns,
                 .is_former = true});
}

// If a realloc makes the block smaller, the program has freed what it does not need. So nothing is wasted.
void TouchedAnalyzer::endRealloc(const Block &block) {
  const auto found = given_back_.find(block.process);
  if (found == given_back_.end())
    return;
  if (block.size >= found->second.size)
    add(found->second.waste, found->second.wasted);
  given_back_.erase(found);
}

struct WastedBlocks : KeptBlocks {
  uint64_t touched_bytes = 0;
};

void addTo(WastedBlocks &blocks, const Wasted &wasted) {
  if (wasted.is_former)
    return blocks.absence.blocks.push_back(
        {wasted.cohort, static_cast<int64_t>(wasted.bytes), wasted.from_ns, wasted.to_ns});
  blocks.add(wasted.cohort, wasted.bytes, wasted.from_ns, wasted.to_ns);
  blocks.touched_bytes += wasted.touched_bytes;
  if (wasted.needed_by_ns != 0)
    blocks.absence.blocks.back().to_ns = wasted.needed_by_ns;
}

void TouchedAnalyzer::concludeOn(Waste waste, Conclusion &conclusion) const {
  std::map<Keeper, WastedBlocks> by_keeper;
  for (const Wasted &wasted : wastes_[static_cast<size_t>(waste)]) {
    if (WastedBlocks *blocks = ownBlocksOf(wasted.cohort, by_keeper, conclusion))
      addTo(*blocks, wasted);
  }
  addFindings(by_keeper, conclusion, [&](const Keeper &keeper, const WastedBlocks &blocks) {
    auto draft = draftOf(kWasteKinds[static_cast<size_t>(waste)], keeper, blocks.place, blocks.cohorts, conclusion);
    Finding &finding = draft.line;
    finding.byte_seconds = byteSecondsOf(blocks.byte_ns);
    if (finding.confidence == Confidence::Likely)
      finding.confidence = Confidence::Proved;
    finding.evidence = {{"idle_ns", blocks.longest_ns}, {"touched_bytes", blocks.touched_bytes}};
    finding.advice = adviceOf(waste, blocks.touched_bytes, finding);
    return draft;
  });
}

// A row for each own place. The place with the most untouched bytes comes first.
void TouchedAnalyzer::addSection(Conclusion &conclusion) const {
  std::map<Place::Key, std::pair<Place, TouchedSum>> by_place;
  for (uint32_t index = 1; index < sums_.size(); ++index) {
    if (sums_[index].count == 0)
      continue;
    const Place place = conclusion.lines.places().of(conclusion.cohorts[{index}].site);
    if (!place.own)
      continue;
    auto &[at, sum] = by_place[place.keyIn(conclusion.catalog)];
    at = place;
    sum += sums_[index];
  }
  std::vector<std::pair<Place, TouchedSum>> rows;
  for (const auto &[key, row] : by_place)
    rows.push_back(row);
  const auto untouchedOf = [](const auto &row) { return row.second.bytes - row.second.touched_bytes; };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto &a, const auto &b) { return untouchedOf(a) > untouchedOf(b); });
  rows.resize(std::min(rows.size(), kMostWasteRows));
  if (rows.empty())
    return;
  Section section{.name = "touched",
                  .title = "What was touched of large host blocks, by the page tables",
                  .columns = {{"place", Unit::Place, Fold::Key},
                              {"blocks", Unit::Count},
                              {"bytes", Unit::Bytes},
                              {"touched", Unit::Bytes},
                              {"untouched", Unit::Bytes}},
                  .rows = {}};
  for (const auto &row : rows)
    section.rows.push_back({std::make_shared<const SiteText>(textOf(conclusion.catalog, row.first)), row.second.count,
                            row.second.bytes, row.second.touched_bytes, untouchedOf(row)});
  conclusion.result.sections.push_back(std::move(section));
}

void TouchedAnalyzer::conclude(Conclusion &conclusion) const {
  addSection(conclusion);
  if (conclusion.question.policy != Policy::Effect)
    return;
  for (const Waste waste : {Waste::Unused, Waste::Early, Waste::Rest, Waste::Capacity})
    concludeOn(waste, conclusion);
}

} // namespace

MSL_REGISTER_ANALYZER(touched, TouchedAnalyzer)

} // namespace msleaks::analysis::inline analyzers
