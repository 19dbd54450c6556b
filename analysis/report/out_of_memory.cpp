#include "analysis/report/out_of_memory.h"

#include "analysis/base/run_folder.h"
#include "analysis/live/refusals.h"
#include "analysis/report/analyze_run.h"
#include "analysis/report/question.h"
#include "analysis/report/run_analysis.h"
#include "analysis/report/running_report.h"
#include "analysis/report/session_facts.h"
#include "analysis/stream/pipeline.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace msleaks::analysis::inline report {
namespace {

using Fates = std::map<uint32_t, ProcessFate>;

// Sites are the processes' own numbers here, because they are only compared.
Result<Refusals> refusalsOf(const TraceReader &trace, const Progress &progress) {
  Refusals refusals;
  ReadProgress read(progress, trace.eventCount());
  MSL_TRY(trace.forEachEvent(Reading::Ahead, [&](const StreamEvent &event) {
    read.onEvent();
    const abi::EventHeader &header = event.event.header();
    const SiteId site{header.site};
    if (header.kind == abi::EventKind::AllocFailed && asksForMemory(header.heap)) {
      const auto failed = event.event.as<abi::AllocFailedEvent>();
      const uint8_t device = header.device;
      refusals.refuse({event.process, event.stream, site, header.heap, device},
                      {failed.size, failed.status, header.time});
    } else if (header.kind == abi::EventKind::Alloc && (header.flags & abi::kRestored) == 0) {
      refusals.give(event.process, event.stream, site, header.time);
    }
    return true;
  }));
  return refusals;
}

bool endedBadly(const Fates &fates, uint32_t process) {
  const auto at = fates.find(process);
  return at != fates.end() && (at->second.cause == FreeCause::ProcessKilled || at->second.exit_status > 0);
}

struct Chosen {
  Refusals::Asker asker;
  Refusals::Refusal refusal;
};

// The last refusal without an answer. A process that ended badly comes before processes that did not.
std::optional<Chosen> chosenOf(const Refusals &refusals, const Fates &fates) {
  std::optional<Chosen> chosen;
  const auto rankOf = [&](const Refusals::Asker &asker, const Refusals::Refusal &refusal) {
    return std::pair(endedBadly(fates, asker.process), refusal.time_ns);
  };
  for (const auto &[asker, sum] : refusals.sums())
    if (sum.isOutOfMemory() && (!chosen || rankOf(asker, sum.last) > rankOf(chosen->asker, chosen->refusal)))
      chosen = {asker, sum.last};
  return chosen;
}

RefusedCall callOf(const Chosen &chosen, const TraceReader &trace) {
  const auto &[asker, refusal] = chosen;
  RefusedCall call{refusal.bytes, refusal.status, asker.heap, asker.device, refusal.time_ns, 0, 0, {}};
  for (const ProcessStart &start : trace.processes())
    if (start.process == asker.process)
      call.pid = start.pid;
  trace.forEachAccount([&](const StreamAccount &stream) {
    if (stream.process == asker.process && stream.stream == asker.stream)
      call.tid = stream.tid;
  });
  return call;
}

// Each process has host memory of its own. All processes share the memory of a device.
bool isOfOneProcess(abi::Heap heap) { return abi::spaceOf(heap) != abi::AddressSpace::Accelerator; }

} // namespace

Result<OutOfMemory> analyzeOutOfMemory(const std::filesystem::path &run, size_t most, const Progress &progress) {
  const auto folder = MSL_TRY(RunFolder::open(run));
  const auto trace = MSL_TRY(TraceReader::open(folder.trace()));
  const Refusals refusals = MSL_TRY(refusalsOf(trace, progress));
  OutOfMemory found;
  for (const auto &[asker, sum] : refusals.sums()) {
    found.refusals += sum.count;
    found.answered += sum.answered;
  }
  ReportQuestion question;
  std::optional<AliveBlocks::Refused> refused;
  if (const auto chosen = chosenOf(refusals, fatesOf(trace))) {
    found.refused = callOf(*chosen, trace);
    refused = {chosen->asker.process, chosen->asker.stream, chosen->asker.heap, chosen->refusal.time_ns};
    const uint64_t start_ns = startOf(folder, trace);
    question.window.to = chosen->refusal.time_ns + 1 - std::min(start_ns, chosen->refusal.time_ns);
    if (isOfOneProcess(chosen->asker.heap))
      question.pid = found.refused->pid;
  }
  Analyzers more;
  more.push_back(std::make_unique<AliveBlocks>(found, most, refused));
  found.report = MSL_TRY(analyzeRun(run, question, progress, std::move(more)));
  return found;
}

namespace {

bool isLarger(const Block &a, const Block &b) {
  return a.bytes() != b.bytes() ? a.bytes() > b.bytes() : a.time_ns < b.time_ns;
}

// The largest gap between the parts of a block. The parts are in the order of their addresses.
uint64_t largestGap(const Block &whole, const std::vector<const Block *> &parts) {
  uint64_t gap = 0, reached = whole.address;
  for (const Block *part : parts) {
    gap = std::max(gap, part->address > reached ? part->address - reached : 0);
    reached = std::max(reached, part->address + part->size);
  }
  const uint64_t end = whole.address + whole.size;
  return std::max(gap, end > reached ? end - reached : 0);
}

using PartsOf = std::map<const Block *, std::vector<const Block *>>;

// Groups parts by the innermost block that contains each of them, in the order of addresses. A block begins before its
// content, so the blocks that contain an address are nested.
PartsOf partsByWhole(std::vector<Block> &parts, std::vector<Block> &wholes) {
  const auto isBefore = [](const Block &a, const Block &b) {
    return std::tuple(a.process, a.address, b.size) < std::tuple(b.process, b.address, a.size);
  };
  std::sort(parts.begin(), parts.end(), isBefore);
  std::sort(wholes.begin(), wholes.end(), isBefore);
  PartsOf found;
  std::vector<const Block *> open;
  auto next = wholes.begin();
  for (const Block &part : parts) {
    const std::pair at(part.process, part.address);
    for (; next != wholes.end() && std::pair(next->process, next->address) <= at; ++next)
      open.push_back(&*next);
    while (!open.empty() &&
           (open.back()->process != part.process || part.address - open.back()->address >= open.back()->size))
      open.pop_back();
    if (!open.empty())
      found[open.back()].push_back(&part);
  }
  return found;
}

} // namespace

void AliveBlocks::onEvent(const StreamEvent &event, SiteId site) {
  if (refused_ && event.process == refused_->process && event.stream == refused_->stream &&
      event.event.header().time == refused_->time_ns)
    refused_site_ = site;
}

// Keeps four times as many blocks before it removes the rest, so that an addition is cheap.
void AliveBlocks::keep(std::vector<Alive> &list, const Alive &alive, Order isBefore) const {
  list.push_back(alive);
  if (list.size() < 4 * most_ + 4)
    return;
  std::nth_element(list.begin(), list.begin() + static_cast<ptrdiff_t>(most_), list.end(), isBefore);
  list.resize(most_);
}

constexpr auto kLargestFirst = [](const auto &a, const auto &b) { return isLarger(a.block, b.block); };
constexpr auto kOldestFirst = [](const auto &a, const auto &b) {
  return a.age_ns != b.age_ns ? a.age_ns > b.age_ns : isLarger(a.block, b.block);
};

void AliveBlocks::onFree(const Block &block, FreeCause cause, uint64_t time_ns) {
  if ((cause != FreeCause::StillAlive && cause != FreeCause::ProcessKilled) || block.bytes() == 0)
    return;
  const Alive alive{block, time_ns > block.time_ns ? time_ns - block.time_ns : 0};
  keep(largest_, alive, kLargestFirst);
  keep(oldest_, alive, kOldestFirst);
  if (refused_ && refused_->heap == abi::Heap::Pool)
    (block.heap == abi::Heap::Pool ? parts_ : wholes_).push_back(block);
}

std::vector<AliveBlock> AliveBlocks::named(std::vector<Alive> list, Order isBefore, Conclusion &conclusion) const {
  std::sort(list.begin(), list.end(), isBefore);
  list.resize(std::min(list.size(), most_));
  std::vector<AliveBlock> blocks;
  for (const auto &[block, age_ns] : list) {
    const auto process =
        std::find_if(conclusion.processes.begin(), conclusion.processes.end(),
                     [&](const ReportProcess &candidate) { return candidate.process == block.process; });
    blocks.push_back({block.bytes(), age_ns, block.heap, block.device,
                      process == conclusion.processes.end() ? 0 : process->pid,
                      textOf(conclusion.catalog, conclusion.lines.places().of(block.site))});
  }
  return blocks;
}

// The largest hole in the blocks of which the pool has allocated parts. A segment without parts looks like any other
// block.
Hole AliveBlocks::hole() const {
  if (refused_->heap == abi::Heap::Host)
    return {{}, "the free memory and the limits of the C library and the kernel are not recorded"};
  if (refused_->heap != abi::Heap::Pool)
    return {{}, "the free memory of the driver or the kernel is not recorded"};
  std::vector<Block> parts = parts_, wholes = wholes_;
  const PartsOf parts_of = partsByWhole(parts, wholes);
  if (parts_of.empty())
    return {{}, "the blocks from which the pool takes its parts are not known"};
  uint64_t largest = 0;
  for (const auto &[whole, inside] : parts_of)
    largest = std::max(largest, largestGap(*whole, inside));
  return {largest, {}};
}

void AliveBlocks::conclude(Conclusion &conclusion) const {
  to_.largest = named(largest_, kLargestFirst, conclusion);
  to_.oldest = named(oldest_, kOldestFirst, conclusion);
  if (!refused_)
    return;
  to_.hole = hole();
  if (refused_site_.known()) {
    const SiteShare share{refused_site_, to_.refused->bytes, 1};
    to_.refused->place = conclusion.lines.bySite({&share, 1}, Lines::Paths::Shown);
  }
}

} // namespace msleaks::analysis::inline report
