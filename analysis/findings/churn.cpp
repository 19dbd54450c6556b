#include "analysis/findings/churn.h"

#include "analysis/base/text.h"
#include "analysis/findings/advice.h"
#include "analysis/findings/keeper.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace msleaks::analysis::inline findings {
namespace {

// Below these limits, churn does not matter: a share of the threads' time, and a total time.
constexpr double kLeastShare = 0.05, kLeastShownShare = 0.01;
constexpr double kLeastNs = 10e6;

// Estimated costs of an allocation and its free. They are rather too low than too high (docs/analyses.md).
constexpr double kTemporaryNs = 10, kStepNs = 20, kOtherNs = 40;
constexpr double kCopyNsPerByte = 1.0 / 64, kClearNsPerByte = 1.0 / 160;
constexpr double kMapNs = 1000, kDriverNs = 10'000;
constexpr double kFirstTouchNs = 250; // for a page that the kernel must fill with zeros
constexpr uint64_t kPageBytes = 4096;

// The nanoseconds that each way to avoid repeated allocations saves.
struct Cost {
  double temporaries = 0; // by keeping a buffer
  double steps = 0;       // by reserving the size
  double others = 0;      // by an arena, or by keeping blocks
  double clears = 0;      // by keeping a block, if the program needs no zeros
  double touches = 0;     // of pages, if the program writes to all of them
  double all() const { return temporaries + steps + others + clears + touches; }
};

Cost costOf(const AllocationCount &count, abi::Heap heap) {
  const auto repeated = static_cast<double>(count.repeated());
  const double part = repeated / static_cast<double>(std::max<uint64_t>(count.count, 1));
  const double touched = part * kFirstTouchNs * static_cast<double>(count.own_pages_bytes) / kPageBytes;
  if (heap == abi::Heap::Pool)
    return {}; // an arena already; its cost is not known
  if (heap == abi::Heap::Mapping)
    return {.others = repeated * kMapNs, .touches = touched};
  if (heap != abi::Heap::Host)
    return {.others = repeated * kDriverNs};
  const double steps = std::min(static_cast<double>(count.growth_steps), repeated);
  const double temporaries = std::min(static_cast<double>(count.temporary), repeated - steps);
  return {.temporaries = temporaries * kTemporaryNs,
          .steps = steps * kStepNs + static_cast<double>(count.copied_bytes) * kCopyNsPerByte,
          .others = (repeated - steps - temporaries) * kOtherNs + part * kMapNs * static_cast<double>(count.own_pages),
          .clears = part * static_cast<double>(count.cleared_bytes) * kClearNsPerByte,
          .touches = touched};
}

// The allocations of one place, or of a closed library, from one heap.
struct Churn {
  Keeper keeper;
  Place place;
  std::vector<CohortShare> cohorts;
  AllocationCount count;
  std::map<uint32_t, std::set<uint32_t>> threads; // by process
  Cost cost;
  double time_ns = 0; // the largest time that it could have taken
  double share() const { return time_ns == 0 ? 0 : cost.all() / time_ns; }
};

// A thread may exist for only a part of the time, or be one of many threads that run at the same time. Without msleaks,
// threads would not wait for the collector.
double timeOf(const Churn &churn, const AllocationCounts &counts,
              const std::unordered_map<uint32_t, AllocationCounts::Time> &of_processes, const Conclusion &conclusion) {
  const auto without = [](uint64_t all, uint64_t part) { return all - std::min(part, all); };
  double time_ns = 0;
  for (const auto &[process, threads] : churn.threads) {
    uint64_t of_threads = 0, longest_stall_ns = 0;
    for (const uint32_t thread : threads) {
      const auto stall = conclusion.stalled_ns.find({process, thread});
      const uint64_t stalled_ns = stall == conclusion.stalled_ns.end() ? 0 : stall->second;
      of_threads += without(counts.nsOfThread(process, thread), stalled_ns);
      longest_stall_ns = std::max(longest_stall_ns, stalled_ns);
    }
    const auto of_process = of_processes.find(process);
    const uint64_t process_ns = of_process == of_processes.end() ? 0 : of_process->second.ns();
    time_ns += static_cast<double>(std::max(of_threads, without(process_ns, longest_stall_ns)));
  }
  return time_ns;
}

// The entry that costs the most time is the first.
std::vector<Churn> churnsOf(const AllocationCounts &counts, Conclusion &conclusion) {
  std::map<Keeper, Churn> by_keeper;
  const std::vector<AllocationCount> &by_cohort = counts.byCohort();
  for (uint32_t index = 1; index < std::min(by_cohort.size(), conclusion.cohorts.size()); ++index) {
    const AllocationCount &count = by_cohort[index];
    const Cohort &cohort = conclusion.cohorts[{index}];
    if (count.repeated() == 0 || ruleFor(conclusion.catalog, cohort.site, conclusion.question.suppressions))
      continue;
    const Place place = conclusion.lines.places().of(cohort.site);
    const Keeper keeper = keeperOf(cohort.site, place, {cohort.heap, cohort.device}, conclusion.catalog);
    Churn &churn = by_keeper[keeper];
    if (count.bytes >= churn.count.bytes)
      churn.place = place;
    churn.keeper = keeper;
    churn.cohorts.push_back({CohortId{index}, count.bytes, count.count});
    churn.count += count;
    churn.threads[cohort.process].insert(cohort.stream);
  }
  const auto of_processes = counts.ofProcesses();
  std::vector<Churn> list;
  for (auto &[keeper, churn] : by_keeper) {
    churn.cost = costOf(churn.count, keeper.account.heap);
    if (churn.cost.all() < kLeastNs)
      continue;
    churn.time_ns = timeOf(churn, counts, of_processes, conclusion);
    list.push_back(std::move(churn));
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Churn &a, const Churn &b) { return a.cost.all() > b.cost.all(); });
  return list;
}

std::string adviceFor(const Churn &churn, const Finding &finding) {
  const Cost &cost = churn.cost;
  const std::string function = functionIn(finding.site);
  if (!churn.keeper.closed_library.empty())
    return fmt::format("{} makes `{}` allocate each time: look for a way to call it less often.", function,
                       baseName(churn.keeper.closed_library));
  if (cost.clears >= std::max({cost.temporaries, cost.steps, cost.others + cost.touches}))
    return fmt::format(
        "Each block of {} is filled with zeros: keep blocks and clear only what was used, or call malloc "
        "where all is written anyway.",
        function);
  if (cost.steps >= std::max(cost.temporaries, cost.others + cost.touches))
    return fmt::format("{} grows in steps and moves what it holds: reserve the final size in {} first.",
                       finding.site.variable.empty() ? "Each block" : "`" + finding.site.variable + "`", function);
  if (cost.temporaries >= cost.others + cost.touches || 2 * churn.count.temporary > churn.count.count)
    return fmt::format("Each is freed before the next one is allocated: keep one buffer for {} and use it again.",
                       function);
  return fmt::format("The blocks of {} come and go: take them from an arena, or keep freed ones for the next.",
                     function);
}

// It is certain that a call is saved. The cost of an arena, and how much of a block is written, are only estimated.
Confidence confidenceOf(const Churn &churn) {
  const Cost &cost = churn.cost;
  const bool is_known = churn.keeper.closed_library.empty() && churn.keeper.account.heap == abi::Heap::Host &&
                        (cost.temporaries + cost.steps) >= kLeastShare * churn.time_ns;
  return is_known ? Confidence::Likely : Confidence::Hint;
}

Draft<Finding> findingOf(const Churn &churn, Conclusion &conclusion) {
  auto draft = draftOf(finding_kinds::kChurn, churn.keeper, churn.place, churn.cohorts, conclusion);
  Finding &finding = draft.line;
  const AllocationCount &count = churn.count;
  finding.confidence = confidenceOf(churn);
  finding.saves_ns = static_cast<uint64_t>(churn.cost.all());
  finding.evidence = {{"allocations", count.count},
                      {"allocations_per_second", static_cast<double>(count.count) * 1e9 / churn.time_ns},
                      {"repeated", count.repeated()},
                      {"temporary", count.temporary},
                      {"reallocs", count.reallocs},
                      {"growth_steps", count.growth_steps},
                      {"longest_chain", count.longest_chain},
                      {"copied_bytes", count.copied_bytes},
                      {"mean_bytes", count.bytes / count.count},
                      {"share_of_time", churn.share()},
                      {"first_touch_ns", static_cast<uint64_t>(churn.cost.touches)},
                      {"cleared_bytes", count.cleared_bytes}};
  if (const auto bytes = count.usual_size.of(count.count))
    finding.evidence.emplace_back("usual_bytes", *bytes);
  finding.advice = adviceFor(churn, finding);
  return draft;
}

Section tableOf(const std::vector<Churn> &list, Conclusion &conclusion) {
  Section section{"churn",
                  "Allocated again and again (time estimated)",
                  {{"place", Unit::Place, Fold::Key},
                   {"time", Unit::TimeNs},
                   {"count", Unit::Count},
                   {"temporary", Unit::Count},
                   {"growth_steps", Unit::Count},
                   {"copied", Unit::Bytes},
                   {"cleared", Unit::Bytes}},
                  {}};
  for (const Churn &churn : list)
    if (churn.share() >= kLeastShownShare)
      section.rows.push_back({std::make_shared<const SiteText>(textOf(conclusion.catalog, churn.place)),
                              static_cast<uint64_t>(churn.cost.all()), churn.count.count, churn.count.temporary,
                              churn.count.growth_steps, churn.count.copied_bytes, churn.count.cleared_bytes});
  return section;
}

} // namespace

void concludeChurn(const AllocationCounts &counts, Conclusion &conclusion) {
  const std::vector<Churn> list = churnsOf(counts, conclusion);
  for (const Churn &churn : list)
    if (churn.place.own && churn.share() >= kLeastShare)
      conclusion.add(findingOf(churn, conclusion), {});
  if (Section table = tableOf(list, conclusion); !table.rows.empty())
    conclusion.result.sections.push_back(std::move(table));
}

} // namespace msleaks::analysis::inline findings
