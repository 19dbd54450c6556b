// Growth: places whose blocks survive nearly every step (docs/analyses.md).
#include "analysis/analyzers/registry.h"
#include "analysis/base/text.h"
#include "analysis/findings/advice.h"
#include "analysis/findings/growing_containers.h"
#include "analysis/findings/keeper.h"
#include "analysis/findings/torch_owner.h"
#include "analysis/live/period_finder.h"
#include "analysis/live/python_estimate.h"
#include "analysis/live/step_survivors.h"
#include "analysis/places/place.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <span>
#include <utility>

namespace msleaks::analysis::inline analyzers {
namespace {

// Fewer steps prove nothing. One step in four may have no survivors, for example a step that only validates.
constexpr size_t kLeastBuckets = 3;
constexpr int64_t kOneIn = 4;

// The steps of a process, which it reports, or the rounds of a period that was found. Cohorts have own numbers in each
// process, in the order of appearance. So memory does not grow with other processes' cohorts.
struct Steps {
  StepSurvivors survivors; // uses the process' own numbers
  PeriodFinder finder;     // uses the process' own numbers, too
  bool are_said = false;
  uint64_t count = 0;                                       // of said steps
  std::vector<CohortId> cohorts = std::vector<CohortId>(1); // by own number; [0] means none

  CohortId cohortOf(CohortId own) const { return cohorts[own.index]; }
};

// The remaining blocks of a keeper, in all processes in which its blocks grow.
struct Growth {
  Keeper keeper;
  Place place;
  std::vector<CohortShare> cohorts;
  std::vector<AbsentBlock> blocks; // from the end of the step in which they were allocated
  int64_t bytes = 0, freed_bytes = 0;
  uint64_t bytes_per_step = 0, first_step = UINT64_MAX, steps = 0;
  ByteNs byte_ns = 0;
  std::optional<PeriodFinder::Period> period; // for a process that does not report its steps
  uint32_t process = 0;                       // the last one
  uint64_t said_steps = 0;                    // all steps of that process
};

using Growths = std::map<Keeper, Growth>;

// The remaining blocks of a keeper in one process.
struct Candidate {
  Place place;
  std::vector<StepSurvivors::Share> shares;
};

// The blocks grow if most buckets have survivors, from the first bucket with survivors on, and the older half has a
// quarter of them. Otherwise, the program only keeps blocks for some time.
bool growsFrom(size_t first, const std::vector<int64_t> &bytes) {
  const size_t buckets = bytes.size() - std::min(first, bytes.size());
  if (buckets < kLeastBuckets)
    return false;
  const auto begin = bytes.begin() + static_cast<ptrdiff_t>(first);
  const auto middle = begin + static_cast<ptrdiff_t>(buckets / 2);
  const int64_t without = std::count_if(begin, bytes.end(), [](int64_t left) { return left <= 0; });
  const auto sum = [](auto from, auto to) { return std::accumulate(from, to, int64_t{0}); };
  return without * kOneIn <= bytes.end() - begin && sum(begin, middle) * kOneIn >= sum(begin, bytes.end());
}

// Python takes small objects from arenas, which are mappings of one of these sizes.
bool mayBeArena(const Block &mapping) { return mapping.size == 256 << 10 || mapping.size == 1 << 20; }

class GrowthAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "growth"; }
  void useCohorts(const Cohorts &, SiteCatalog &catalog) override { labels_ = &catalog.labels(); }
  bool wants(abi::Heap) const override { return true; }
  uint32_t eventKinds() const override {
    return abi::enabledBit(abi::EventKind::Step) | abi::enabledBit(abi::EventKind::Counter);
  }

  void onEvent(const StreamEvent &event, SiteId) override {
    Steps &steps = of(event.process);
    if (event.event.header().kind == abi::EventKind::Counter)
      return countItems(event, steps);
    const auto step = event.event.as<abi::StepEvent>();
    ++steps.count;
    if (!std::exchange(steps.are_said, true))
      steps.survivors = StepSurvivors();
    steps.survivors.beginStep(step.number, step.header.time);
  }
  void onAlloc(const Block &block, AllocCause cause, uint64_t time_ns) override {
    if (block.bytes() == 0)
      return;
    Steps &steps = of(block.process);
    if (looksAt(steps, block) && (cause == AllocCause::Allocated || cause == AllocCause::Reallocated))
      look(steps, block, time_ns);
    if (block.heap == abi::Heap::Mapping && !mayBeArena(block))
      elementAt(has_other_mappings_, block.cohort.index) = true;
    change(steps, block, block.cohort, 1);
  }
  void onFree(const Block &block, FreeCause cause, uint64_t) override {
    if (isEnd(cause) || block.bytes() == 0)
      return;
    Steps &steps = of(block.process);
    if (looksAt(steps, block) && cause == FreeCause::Reallocated)
      steps.finder.onRealloc(block.bytes());
    else if (looksAt(steps, block))
      steps.finder.onFree(block.bytes());
    change(steps, block, block.cohort, -1);
  }
  void onRetarget(const Block &block, const Block &before, uint64_t) override {
    if (block.bytes() == 0)
      return;
    Steps &steps = of(block.process);
    change(steps, block, before.cohort, -1);
    change(steps, block, block.cohort, 1);
  }
  void conclude(Conclusion &) const override;

private:
  Steps &of(uint32_t process) {
    if (!last_ || last_process_ != process) {
      last_process_ = process;
      last_ = &processes_[process];
    }
    return *last_;
  }
  void countItems(const StreamEvent &event, const Steps &steps) {
    const auto counter = event.event.as<abi::CounterEvent>();
    if (labels_)
      containers_.count(event.process, labels_->textOf(event.process, counter.label), counter.value, steps.count);
  }
  // Whether the rounds of the process are searched, and this block is not there by chance.
  static bool looksAt(const Steps &steps, const Block &block) {
    return !steps.are_said && block.heap != abi::Heap::Python;
  }
  CohortId ownOf(Steps &steps, CohortId cohort) {
    uint32_t &number = elementAt(own_numbers_, cohort.index);
    if (number == 0) {
      number = static_cast<uint32_t>(steps.cohorts.size());
      steps.cohorts.push_back(cohort);
    }
    return {number};
  }
  void look(Steps &steps, const Block &block, uint64_t time_ns) {
    const auto step =
        steps.finder.onAlloc(threadApart(block.stream), ownOf(steps, block.cohort), block.bytes(), time_ns);
    if (step == PeriodFinder::Step::GoesOn)
      return;
    if (step == PeriodFinder::Step::First)
      steps.survivors = StepSurvivors();
    steps.survivors.beginStep(steps.finder.rounds(), time_ns);
  }
  void change(Steps &steps, const Block &block, CohortId cohort, int64_t count) {
    const BlockSum sum = block.heap == abi::Heap::Python ? estimateOf(block) : BlockSum{block.bytes(), 1};
    steps.survivors.change(ownOf(steps, cohort), block.time_ns, count * static_cast<int64_t>(sum.bytes),
                           count * static_cast<int64_t>(sum.count));
  }
  bool mayBeOfArenas(const Growth &) const;
  void leaveOutArenas(Growths &) const;

  std::map<uint32_t, Steps> processes_;     // elements do not move
  std::vector<uint32_t> own_numbers_;       // by cohort, which belongs to one process
  std::vector<uint8_t> has_other_mappings_; // by cohort: whether it has mappings that are no arenas
  GrowingContainers containers_;
  const Labels *labels_ = nullptr;
  Steps *last_ = nullptr; // for the last block's process
  uint32_t last_process_ = 0;
};

// The number of buckets that --skip-steps leaves out. The warm-up step is in no bucket.
size_t skippedOf(std::span<const StepSurvivors::Bucket> buckets, uint64_t skip_steps) {
  uint64_t steps = StepSurvivors::kWarmUpSteps;
  size_t skipped = 0;
  for (; skipped < buckets.size() && steps < skip_steps; ++skipped)
    steps += buckets[skipped].steps;
  return skipped;
}

// The keeper of blocks that may grow. This may also be a library that the user's own code has not called: its own
// threads may allocate what the program keeps.
std::optional<KeptPlace> keptBy(const Cohort &cohort, Conclusion &conclusion) {
  if (auto kept = ownKeeperOf(cohort, conclusion))
    return kept;
  if (cohort.heap == abi::Heap::Python || ruleFor(conclusion.catalog, cohort.site, conclusion.question.suppressions))
    return std::nullopt;
  const std::string_view library = closedLibraryOf(cohort.site, conclusion.catalog);
  if (library.empty())
    return std::nullopt;
  return KeptPlace{{library, {}, {cohort.heap, cohort.device}}, conclusion.lines.places().of(cohort.site)};
}

// Candidates among the blocks that were allocated in the bucket `from` or later.
std::map<Keeper, Candidate> candidatesOf(const Steps &steps, size_t from, Conclusion &conclusion) {
  std::map<Keeper, Candidate> candidates;
  for (const StepSurvivors::Share &share : steps.survivors.shares()) {
    if (share.bucket < from)
      continue;
    const auto kept = keptBy(conclusion.cohorts[steps.cohortOf(share.cohort)], conclusion);
    if (!kept)
      continue;
    Candidate &candidate = candidates[kept->keeper];
    candidate.place = kept->place;
    candidate.shares.push_back(share);
  }
  return candidates;
}

size_t firstBucketOf(const Candidate &candidate, const StepSurvivors &survivors) {
  size_t first = SIZE_MAX;
  for (const StepSurvivors::Share &share : candidate.shares)
    first = std::min<size_t>(first, survivors.firstBucketOf(share.cohort).value_or(share.bucket));
  return first;
}

void add(Growth &growth, const Steps &of, const Candidate &candidate, size_t first,
         std::span<const StepSurvivors::Bucket> buckets) {
  int64_t bytes = 0;
  uint64_t steps = 0;
  for (const StepSurvivors::Bucket &bucket : buckets.subspan(first))
    steps += bucket.steps;
  for (const StepSurvivors::Share &share : candidate.shares) {
    const StepSurvivors::Bucket &bucket = buckets[share.bucket];
    const auto left = static_cast<uint64_t>(std::max<int64_t>(share.bytes, 0));
    const auto count = static_cast<uint64_t>(std::max<int64_t>(share.count, 0));
    growth.cohorts.push_back({of.cohortOf(share.cohort), left, count});
    growth.blocks.push_back({of.cohortOf(share.cohort), share.bytes, bucket.end_ns});
    growth.byte_ns += byteNsOf(left, buckets.back().end_ns - bucket.end_ns);
    growth.freed_bytes += share.freed_bytes;
    bytes += share.bytes;
  }
  growth.place = candidate.place;
  growth.bytes += bytes;
  growth.bytes_per_step += static_cast<uint64_t>(bytes) / steps;
  growth.first_step = std::min(growth.first_step, buckets[first].first_step);
  growth.steps = std::max(growth.steps, steps);
}

void findIn(uint32_t process, const Steps &steps, Conclusion &conclusion, Growths &growths) {
  auto period = steps.are_said ? std::nullopt : steps.finder.period();
  if (!steps.are_said && !period)
    return;
  if (period)
    period->anchor = steps.cohortOf(period->anchor);
  const StepSurvivors &survivors = steps.survivors;
  const std::vector<StepSurvivors::Bucket> buckets = survivors.buckets();
  if (buckets.size() < kLeastBuckets)
    return;
  const size_t skipped = skippedOf(buckets, conclusion.question.skip_steps);
  for (const auto &[keeper, candidate] : candidatesOf(steps, skipped, conclusion)) {
    std::vector<int64_t> bytes(buckets.size());
    for (const StepSurvivors::Share &share : candidate.shares)
      bytes[share.bucket] += share.bytes;
    if (const size_t first = std::max(firstBucketOf(candidate, survivors), skipped); growsFrom(first, bytes)) {
      Growth &growth = growths[keeper];
      growth.keeper = keeper;
      growth.period = period;
      growth.process = process;
      growth.said_steps = steps.count;
      add(growth, steps, candidate, first, buckets);
    }
  }
}

// Adds the place where a round begins, and the mean time of a round.
void addPeriod(const PeriodFinder::Period &period, Evidence &evidence, Conclusion &conclusion) {
  const SiteId site = conclusion.cohorts[period.anchor].site;
  const SiteText place = textOf(conclusion.catalog, conclusion.lines.places().of(site));
  evidence.emplace_back("period_found", place.file.empty() ? fmt::format("{}+{:#x}", place.library, place.offset)
                                                           : fmt::format("{}:{}", place.file, place.line));
  evidence.emplace_back("period_rounds", period.rounds);
  evidence.emplace_back("period_ns", period.mean_ns);
}

// Whether PyTorch's forward passes made the blocks of a Python program.
bool isOfForwardPass(const Finding &finding, bool has_python) {
  const auto torch = torchOwnerOf(finding.owner);
  return has_python && torch && torch->phase == "forward";
}

// The library that contains the innermost call of a path, besides libc and libstdc++. Empty if it is not known.
std::string_view allocatingLibraryOf(SiteId site, SiteCatalog &catalog) {
  for (uint32_t node = catalog.innermostNodeOf(site); SiteCatalog::isNode(node); node = catalog.pathNode(node).outer) {
    const Site &call = catalog.describe(catalog.pathNode(node).call);
    if (call.origin != SiteOrigin::Hook)
      return {};
    if (!allocatesForCallers(call.library))
      return baseName(call.library);
  }
  return {};
}

// Whether most bytes are no tensors, but what a library below PyTorch keeps. An example is code that oneDNN has made
// for a shape. PyTorch's own libraries allocate tensors and their graph, but map no memory for them.
bool isOfCache(const Growth &growth, const Finding &finding, Conclusion &conclusion) {
  if (!torchOwnerOf(finding.owner))
    return false;
  uint64_t of_cache = 0, all = 0;
  for (const CohortShare &share : growth.cohorts) {
    const std::string_view library = allocatingLibraryOf(conclusion.cohorts[share.cohort].site, conclusion.catalog);
    const bool may_be_tensor = library.empty() || library.starts_with("libc10") ||
                               (library.starts_with("libtorch") && finding.heap != abi::Heap::Mapping);
    of_cache += may_be_tensor ? 0 : share.bytes;
    all += share.bytes;
  }
  return of_cache * 2 > all;
}

std::string cacheAdviceOf(const Finding &finding) {
  return fmt::format("A library below `{}` keeps this, and it is no tensor. It is probably a cache for shapes. Use few "
                     "shapes, for example padded batches, or limit the cache (ONEDNN_PRIMITIVE_CACHE_CAPACITY).",
                     torchOwnerOf(finding.owner)->name);
}

std::string adviceOf(const Growth &growth, bool is_freed, bool is_forward, const Finding &finding,
                     const std::vector<GrowingContainer> &containers) {
  const std::string function = functionIn(finding.site), thing = thingOf(finding);
  if (const std::string &library = finding.closed_library; !library.empty() && containers.empty())
    return fmt::format("The program keeps objects that need {}, or `{}` has a cache that grows: limit their number.",
                       thing, baseName(library));
  if (growth.period)
    return fmt::format("If {} should not outlive a round, free each before the next one begins; if {} fills a cache, "
                       "limit it.",
                       thing, function);
  if (is_freed)
    return fmt::format("The program frees {} only after its last step: free each in the step in which {} makes it.",
                       thing, function);
  const std::string what = is_forward ? "these tensors" : thing;
  if (!containers.empty())
    return fmt::format("{}: {}", keptText(containers, what), remedyOf(containers.front()));
  if (is_forward)
    return "The program keeps these tensors, or results that need them: store `.item()` of a loss, use "
           "`torch.no_grad()`, or limit a cache.";
  if (const auto torch = torchOwnerOf(finding.owner); torch && torch->phase == "backward")
    return "With `create_graph=True` a gradient keeps its graph, and its parameter the gradient: use "
           "`torch.autograd.grad`, or set `.grad` to None. If the program stores gradients, limit their number.";
  return fmt::format("Free the blocks of {} before their step ends; if {} must stay, limit their number.", function,
                     thing);
}

void addHolders(const std::vector<GrowingContainer> &containers, Evidence &evidence) {
  std::vector<std::string> holders;
  for (const GrowingContainer &container : containers)
    holders.push_back(sentenceOf(container));
  if (!holders.empty())
    evidence.emplace_back("holders", std::move(holders));
}

Draft<Finding> findingOf(const Growth &growth, const GrowingContainers &all, Conclusion &conclusion) {
  auto draft = draftOf(finding_kinds::kGrowth, growth.keeper, growth.place, growth.cohorts, conclusion);
  const bool is_of_python = isOfPython(conclusion.catalog, growth.place) ||
                            (!growth.keeper.closed_library.empty() && conclusion.catalog.hasPython());
  // At its end Python also frees the objects that leaked.
  const bool is_freed = growth.freed_bytes * 2 > growth.bytes && !is_of_python;
  Finding &finding = draft.line;
  if (is_freed || growth.period)
    finding.confidence = Confidence::Hint;
  finding.byte_seconds = byteSecondsOf(growth.byte_ns);
  finding.evidence = {
      {kGrowthEvidence, growth.bytes_per_step},
      {"first_step", growth.first_step},
      {"steps", growth.steps},
      {"freed_behind_last_step_bytes", static_cast<uint64_t>(std::max<int64_t>(growth.freed_bytes, 0))}};
  if (finding.heap == abi::Heap::Python)
    finding.evidence.emplace_back(kSampledEvidence, abi::kSampleBytes);
  if (growth.period)
    addPeriod(*growth.period, finding.evidence, conclusion);
  const bool is_forward = isOfForwardPass(finding, conclusion.catalog.hasPython());
  std::vector<GrowingContainer> containers;
  if (is_of_python)
    containers = all.of(growth.process, growth.said_steps, is_forward);
  addHolders(containers, finding.evidence);
  if (isOfCache(growth, finding, conclusion)) {
    finding.confidence = Confidence::Hint;
    finding.evidence.emplace_back("is_cache", true);
    finding.advice = cacheAdviceOf(finding);
    return draft;
  }
  finding.advice = adviceOf(growth, is_freed, is_forward, finding, containers);
  return draft;
}

bool GrowthAnalyzer::mayBeOfArenas(const Growth &growth) const {
  return growth.keeper.account.heap == abi::Heap::Mapping &&
         std::none_of(growth.cohorts.begin(), growth.cohorts.end(),
                      [&](const CohortShare &share) { return valueAt(has_other_mappings_, share.cohort.index) != 0; });
}

// The place of an arena is any line that needed it. If the sample shows which objects grow, the arenas need no finding.
void GrowthAnalyzer::leaveOutArenas(Growths &growths) const {
  std::map<uint32_t, int64_t> sampled_bytes, arena_bytes; // by process
  for (const auto &[keeper, growth] : growths) {
    if (keeper.account.heap == abi::Heap::Python)
      sampled_bytes[growth.process] += growth.bytes;
    else if (mayBeOfArenas(growth))
      arena_bytes[growth.process] += growth.bytes;
  }
  std::erase_if(growths, [&](const auto &entry) {
    const uint32_t process = entry.second.process;
    return mayBeOfArenas(entry.second) && sampled_bytes[process] * 2 >= arena_bytes[process];
  });
}

void GrowthAnalyzer::conclude(Conclusion &conclusion) const {
  Growths growths;
  for (const auto &[process, steps] : processes_)
    findIn(process, steps, conclusion, growths);
  leaveOutArenas(growths);
  std::vector<Growth> list;
  for (auto &[keeper, growth] : growths) {
    if (growth.bytes_per_step < conclusion.question.least_growth_bytes)
      continue;
    if (keeper.closed_library.empty() || conclusion.isWorthSaving(keeper.account, {.blocks = growth.blocks}))
      list.push_back(std::move(growth));
  }
  Conclusion::keepLargest(list, [](const Growth &growth) { return growth.bytes; });
  for (const Growth &growth : list)
    conclusion.add(findingOf(growth, containers_, conclusion), {.blocks = growth.blocks});
}

} // namespace

MSL_REGISTER_ANALYZER(growth, GrowthAnalyzer)

} // namespace msleaks::analysis::inline analyzers
