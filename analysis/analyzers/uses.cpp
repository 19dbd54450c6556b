// Uses: blocks that are allocated long before their first use, freed long after their last one, or never used; and the
// floor, the peak if there were none of these (docs/analyses.md).
#include "analysis/analyzers/registry.h"
#include "analysis/base/base_name.h"
#include "analysis/findings/keeper.h"
#include "analysis/live/use.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>

namespace msleaks::analysis {
namespace {

// What is worth changing: a saving of so much of its heap's peak, and of more than a few pages.
constexpr uint64_t kLeastShare = 20, kLeastBytes = 64 << 10;

// A part of a block's life in which the program could do without it.
struct Idle {
  const char *kind;
  LifePart part;
  const char *use; // at its end that is a use
};
constexpr Idle kEarly{"early-allocation", LifePart::NotUsed, "first_use"};
constexpr Idle kLate{"late-free", LifePart::Late, "last_use"};
constexpr Idle kUnused{"unused", LifePart::Unused, nullptr};
constexpr std::array kIdle{kEarly, kLate, kUnused};

// Of a cohort's blocks.
struct Idleness {
  uint64_t bytes = 0, count = 0;
  uint64_t longest_ns = 0;
  SiteId use; // of the block that was idle longest
  ByteNs byte_ns = 0;

  Idleness &operator+=(const Idleness &other) {
    bytes += other.bytes;
    count += other.count;
    byte_ns += other.byte_ns;
    if (other.longest_ns >= longest_ns) {
      longest_ns = other.longest_ns;
      use = other.use;
    }
    return *this;
  }
};

// Of a live block. `others`: how many blocks its device had been asked for at that moment.
struct BlockUses {
  struct Moment {
    uint64_t time_ns = 0, others = 0;
    SiteId site;
  };
  Moment birth, first, last;
  bool counts = false; // all its life was seen
};

struct IdleBlocks {
  Keeper keeper;
  Place place;
  std::vector<CohortShare> cohorts;
  Idleness sum;
};

class UsesAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "uses"; }
  void onAlloc(const Block &block, AllocCause cause, uint64_t time_ns) override {
    if (!hasUses(block.heap) || block.bytes() == 0)
      return;
    const uint64_t others = ++allocations_[block.device];
    const bool counts = cause == AllocCause::Allocated || cause == AllocCause::Reallocated;
    elementAt(uses_, block.id.index) = {{time_ns, others, block.site}, {}, {}, counts};
  }
  void onUse(const Block &block, const Use &use) override {
    BlockUses &uses = elementAt(uses_, block.id.index);
    const BlockUses::Moment now{use.time_ns, allocations_[block.device], use.site};
    if (uses.first.time_ns == 0)
      uses.first = now;
    uses.last = now;
  }
  void onFree(const Block &block, FreeCause, uint64_t time_ns) override;
  void conclude(Conclusion &) const override;

private:
  using ByCohort = std::vector<Idleness>;
  void add(const Idle &, const Block &, SiteId use, uint64_t idle_ns);
  ByCohort &of(const Idle &idle) { return idle_[static_cast<size_t>(idle.part)]; }
  const ByCohort &of(const Idle &idle) const { return idle_[static_cast<size_t>(idle.part)]; }
  std::vector<IdleBlocks> blocksOf(const Idle &, Conclusion &) const;

  std::vector<BlockUses> uses_;             // by number of the block
  std::array<uint64_t, 256> allocations_{}; // by device
  std::array<ByCohort, static_cast<size_t>(LifePart::Count)> idle_;
};

void UsesAnalyzer::add(const Idle &idle, const Block &block, SiteId use, uint64_t idle_ns) {
  elementAt(of(idle), block.cohort.index) += Idleness{block.size, 1, idle_ns, use, byteNsOf(block.size, idle_ns)};
}

// Blocks are idle when somebody else could have had the memory: when another block of the device was asked for.
void UsesAnalyzer::onFree(const Block &block, FreeCause cause, uint64_t time_ns) {
  if (!hasUses(block.heap))
    return;
  const BlockUses uses = std::exchange(elementAt(uses_, block.id.index), {});
  if (!uses.counts)
    return;
  if (uses.first.time_ns == 0)
    return add(kUnused, block, {}, time_ns - uses.birth.time_ns);
  if (uses.first.others > uses.birth.others)
    add(kEarly, block, uses.first.site, uses.first.time_ns - uses.birth.time_ns);
  if (!isEnd(cause) && allocations_[block.device] > uses.last.others)
    add(kLate, block, uses.last.site, time_ns - uses.last.time_ns);
}

std::vector<IdleBlocks> UsesAnalyzer::blocksOf(const Idle &idle, Conclusion &conclusion) const {
  std::map<Keeper, IdleBlocks> keepers;
  const ByCohort &cohorts = of(idle);
  for (uint32_t index = 1; index < cohorts.size(); ++index) {
    const Idleness &idleness = cohorts[index];
    if (idleness.count == 0) // perhaps no cohort at all: there are more elements than that
      continue;
    const Cohort &cohort = conclusion.cohorts[{index}];
    const Account account{cohort.heap, cohort.device};
    if (!conclusion.seesUses(account))
      continue;
    const Place place = conclusion.lines.places().of(cohort.site);
    if (!place.own || ruleFor(conclusion.catalog, cohort.site, conclusion.question.suppressions))
      continue;
    const Keeper keeper = keeperOf(cohort.site, place, account, conclusion.catalog);
    IdleBlocks &blocks = keepers[keeper];
    blocks.keeper = keeper;
    blocks.place = place;
    blocks.cohorts.push_back({{index}, idleness.bytes, idleness.count});
    blocks.sum += idleness;
  }
  std::vector<IdleBlocks> list;
  for (auto &[keeper, blocks] : keepers)
    list.push_back(std::move(blocks));
  Conclusion::keepLargest(list, [](const IdleBlocks &blocks) { return blocks.sum.bytes; });
  return list;
}

Absence absenceOf(const Idle &idle, const IdleBlocks &blocks, const Conclusion &conclusion) {
  Absence absence{CohortSet(conclusion.cohorts.size()), {idle.part}, {}};
  for (const CohortShare &share : blocks.cohorts)
    absence.cohorts[share.cohort.index] = true;
  return absence;
}

// "train.cpp:74 < train.cpp:206": the place of the use, and its caller, since many programs have a function of their
// own that launches. Empty: not known.
std::string lineOf(SiteId use, Conclusion &conclusion) {
  if (use == SiteId{})
    return {};
  constexpr size_t kMostLines = 2;
  std::vector<std::string> lines;
  const auto add = [&](const SiteText &site) {
    std::string line = site.file.empty() ? site.function : fmt::format("{}:{}", baseName(site.file), site.line);
    if (!line.empty() && lines.size() < kMostLines && std::find(lines.begin(), lines.end(), line) == lines.end())
      lines.push_back(std::move(line));
  };
  add(textOf(conclusion.catalog, conclusion.lines.places().of(use)));
  for (const SiteId call : shownPath(conclusion.catalog, use).calls)
    if (const SiteText site = textOf(conclusion.catalog.describe(call)); !isSystemImage(site.library))
      add(site);
  return fmt::format("{}", fmt::join(lines, " < "));
}

std::string adviceOf(const Idle &idle, const std::string &use) {
  const std::string at = use.empty() ? "" : fmt::format(" at {}", use);
  switch (idle.part) {
  case LifePart::NotUsed:
    return fmt::format("Allocate it when it is first used{}: until then it only takes room.", at);
  case LifePart::Late:
    return fmt::format("Free it behind its last use{}: from there on it only takes room.", at);
  default:
    return "Leave it out, or allocate it where it is needed: no launch, copy or fill ever used it.";
  }
}

Draft<Finding> findingOf(const Idle &idle, const IdleBlocks &blocks, Conclusion &conclusion) {
  auto draft = draftOf(idle.kind, blocks.keeper, blocks.place, blocks.cohorts, conclusion);
  Finding &finding = draft.line;
  finding.byte_seconds = byteSecondsOf(blocks.sum.byte_ns);
  const std::string use = lineOf(blocks.sum.use, conclusion);
  finding.evidence = {{"idle_ns", blocks.sum.longest_ns}};
  if (!use.empty())
    finding.evidence.emplace_back(idle.use, use);
  finding.advice = adviceOf(idle, use);
  return draft;
}

std::optional<Floor> floorOf(Conclusion &conclusion) {
  Absence idle{
      CohortSet(conclusion.cohorts.size()), {LifePart::NotUsed, LifePart::Late, LifePart::Kept, LifePart::Unused}, {}};
  Floor floor;
  std::map<Account, bool> seen;
  for (uint32_t index = 1; index < conclusion.cohorts.size(); ++index) {
    const Cohort &cohort = conclusion.cohorts[{index}];
    const Account account{cohort.heap, cohort.device};
    const auto [at, fresh] = seen.try_emplace(account);
    if (fresh)
      at->second = conclusion.seesUses(account);
    idle.cohorts[index] = at->second;
    if (at->second && std::find(floor.heaps.begin(), floor.heaps.end(), account.heap) == floor.heaps.end())
      floor.heaps.push_back(account.heap);
  }
  if (floor.heaps.empty())
    return std::nullopt;
  const Savings::Curve all = conclusion.physicalCurve(), absent = conclusion.curveOf(idle);
  for (size_t i = 0; i < all.size(); ++i)
    floor.bytes = std::max(floor.bytes, static_cast<uint64_t>(std::max<int64_t>(all[i] - absent[i], 0)));
  return floor;
}

void UsesAnalyzer::conclude(Conclusion &conclusion) const {
  conclusion.result.floor = floorOf(conclusion);
  for (const Idle &idle : kIdle)
    for (const IdleBlocks &blocks : blocksOf(idle, conclusion)) {
      Absence absence = absenceOf(idle, blocks, conclusion);
      const uint64_t least_bytes = std::max(kLeastBytes, conclusion.peakOf(blocks.keeper.account) / kLeastShare);
      if (conclusion.saves(blocks.keeper.account, absence) >= least_bytes)
        conclusion.add(findingOf(idle, blocks, conclusion), std::move(absence));
    }
}

} // namespace

MSL_REGISTER_ANALYZER(uses, UsesAnalyzer)

} // namespace msleaks::analysis
