#include "analysis/base/session_time.h"
#include "analysis/base/text.h"
#include "analysis/text/callers.h"
#include "analysis/text/parts.h"
#include "analysis/text/site_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace msleaks::analysis::inline text {
namespace {

constexpr size_t kMaxNotes = 12;

// Returns the peak of each heap, each at its own time: "8.00 MiB device, 1.20 MiB host".
std::string heapsText(const PeakReport &peak) {
  if (peak.by_heap.size() < 2)
    return "";
  std::string text;
  for (const HeapPeak &heap : peak.by_heap)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", bytesText(heap.bytes), abi::nameOf(heap.heap));
  return fmt::format(" (highest of each heap: {})", text);
}

bool canHaveFloor(const Report &report) {
  const auto &heaps = report.peak.by_heap;
  return std::any_of(heaps.begin(), heaps.end(), [](const HeapPeak &heap) { return hasUses(heap.heap); });
}

std::string momentText(const Report &report, uint64_t time_ns) {
  return durationText(sinceStart(time_ns, report.start_ns)) + " after the start";
}

std::string textOfMoment(const Report &report) {
  return fmt::format("{} in {} at {} ({})", bytesText(report.alive.sum.bytes), blocksText(report.alive.sum.count),
                     printable(report.at->name), momentText(report, report.at->time_ns));
}

std::string sumText(const BlockSum &sum) {
  return fmt::format("{} in {}", bytesText(sum.bytes), blocksText(sum.count));
}

} // namespace

std::string exitText(const ReportProcess &process) {
  switch (process.fate) {
  case FreeCause::ProcessKilled:
    return process.exit ? fmt::format("killed by signal {}", *process.exit - 128) : "killed";
  case FreeCause::ProcessExec:
    return "replaced by another program (exec)";
  case FreeCause::StillAlive:
    return "still running, or its end was not seen";
  default:
    return process.exit ? fmt::format("exit {}", *process.exit) : "ended, in an unknown way";
  }
}

std::string blocksText(uint64_t count) { return countText(count) + (count == 1 ? " block" : " blocks"); }

std::string wholePlaceOf(const SiteText &site, size_t columns) {
  constexpr size_t kLeastName = 12;
  if (std::string user = userPlaceOf(site, columns); !user.empty())
    return user;
  std::string text = placeOf(site, columns);
  if (widthOf(text) + 1 + kLeastName <= columns)
    if (const std::string name = nameOf(site, columns - widthOf(text) - 1); !name.empty())
      text += " " + name;
  return text;
}

std::string textOfCommand(const Report &report) {
  std::string text;
  for (const std::string &word : report.command)
    text += (text.empty() ? "" : " ") + printable(word);
  return text;
}

std::string textOfEnd(const Report &report) {
  std::string text = report.duration_ns == 0 ? "" : durationText(report.duration_ns) + ", ";
  if (!report.processes.empty())
    text += exitText(report.processes.front());
  if (report.processes.size() > 1)
    text += fmt::format("; {} processes", countText(report.processes.size()));
  return text;
}

void writeSession(TextTable &table, const Report &report) {
  if (const std::string command = textOfCommand(report); !command.empty())
    table.entry("command", cutEnd(command, 400));
  if (const std::string time = textOfEnd(report); !time.empty())
    table.entry("time", time);
}

std::string textOfPeak(const Report &report) {
  const PeakReport &peak = report.peak;
  if (report.at)
    return textOfMoment(report);
  if (peak.bytes == 0)
    return "nothing was allocated";
  const std::string resident =
      peak.resident_bytes ? fmt::format("; then {} resident", bytesText(*peak.resident_bytes)) : "";
  return fmt::format("{} at {}{}{}", bytesText(peak.bytes), momentText(report, peak.time_ns), resident,
                     heapsText(peak));
}

std::string headingOfPeak(const Report &report) {
  return report.at ? fmt::format("Alive at {}", printable(report.at->name)) : "At the peak";
}

const HeapPeak *peakOf(const Report &report, abi::Heap heap) {
  const auto &heaps = report.peak.by_heap;
  const auto found = std::find_if(heaps.begin(), heaps.end(), [&](const HeapPeak &peak) { return peak.heap == heap; });
  return found == heaps.end() ? nullptr : &*found;
}

const HeapPeak *peakOfPools(const Report &report) {
  const HeapPeak *const pools = peakOf(report, abi::Heap::Pool);
  return pools == nullptr || pools->by_site.empty() ? nullptr : pools;
}

std::string headingOfPools(const Report &report) {
  return report.at ? fmt::format("In pools at {}", printable(report.at->name)) : "In pools, at their own peak";
}

std::string textOfTensors(const Report &report) {
  const auto section = std::find_if(report.sections.begin(), report.sections.end(),
                                    [](const Section &of) { return of.name == "tensor_kinds"; });
  if (report.at || section == report.sections.end())
    return "";
  // If a caching allocator has tensors, the others are on the host.
  constexpr size_t kKind = 0, kBlocks = 1, kParts = 3;
  const bool has_parts = std::any_of(section->rows.begin(), section->rows.end(),
                                     [](const auto &row) { return std::get<uint64_t>(row[kParts]) != 0; });
  std::vector<std::pair<uint64_t, std::string>> kinds;
  for (const std::vector<Cell> &row : section->rows)
    kinds.emplace_back(std::get<uint64_t>(row[has_parts ? kParts : kBlocks]), std::get<std::string>(row[kKind]));
  std::stable_sort(kinds.begin(), kinds.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
  std::string text;
  for (const auto &[bytes, kind] : kinds)
    if (bytes != 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : "; ", kind, bytesText(bytes));
  return has_parts ? "in pools: " + text : text;
}

std::string textOfFloor(const Report &report) {
  if (report.at || !canHaveFloor(report))
    return "";
  if (!report.floor)
    return "not known: not all uses of device memory were seen";
  std::string names;
  for (const abi::Heap heap : report.floor->heaps)
    names += fmt::format("{}{}", names.empty() ? "" : " and ", abi::nameOf(heap));
  return fmt::format("{}: the peak if {} memory were held from its first to its last use only; one launch uses {} at "
                     "most",
                     bytesText(report.floor->bytes), names, bytesText(report.floor->largest_launch_bytes));
}

// Returns the sum of the leaks that findings prove or consider likely, and apart from them the sum that libraries keep.
std::string textOfLeaks(const Report &report) {
  const FoundLeaks &found = report.found_leaks;
  const BlockSum &all = report.leaks.sum, &all_in_pools = report.leaks.pool_sum;
  const BlockSum kept{all.bytes - found.sum.bytes, all.count - found.sum.count};
  const BlockSum kept_in_pools{all_in_pools.bytes - found.pool_sum.bytes, all_in_pools.count - found.pool_sum.count};
  std::string text = "none";
  if (found.sum.count != 0 || found.pool_sum.count != 0)
    text = fmt::format("{} from {} place{}", sumText(found.sum), countText(found.places), found.places == 1 ? "" : "s");
  if (found.pool_sum.count != 0)
    text += "; in pools " + sumText(found.pool_sum);
  if (kept.count != 0)
    text += fmt::format("; libraries keep {}", sumText(kept));
  if (kept_in_pools.count != 0)
    text += fmt::format("; libraries keep {} in pools", sumText(kept_in_pools));
  return text;
}

std::string textOfRemains(const RemainsReport &remains) {
  if (remains.empty())
    return "";
  std::string text =
      fmt::format("{} in {} from {} place{}", bytesText(remains.sum.bytes), blocksText(remains.sum.count),
                  countText(remains.by_site.size()), remains.by_site.size() == 1 ? "" : "s");
  if (remains.pool_sum.count != 0)
    text += fmt::format("; in pools {} in {}", bytesText(remains.pool_sum.bytes), blocksText(remains.pool_sum.count));
  return text;
}

std::string textOfEvents(const Report &report) {
  const EventAccount &events = report.events;
  std::string text;
  if (events.dropped != 0)
    text = fmt::format("{} of {} DROPPED, {} stored: not exact, a block whose free was dropped looks leaked",
                       countText(events.dropped), countText(events.produced), countText(events.stored));
  else if (events.missing != 0)
    text =
        fmt::format("{} stored, {} MISSING: see damage and notes", countText(events.stored), countText(events.missing));
  else if (!report.damage.empty())
    text = fmt::format("{} stored, the trace is DAMAGED", countText(events.stored));
  else if (!report.closed)
    text = fmt::format("{} stored, NOT ALL: the session was killed or still runs", countText(events.stored));
  else if (const auto unseen = report.unseenProcesses(); unseen != 0)
    text = fmt::format("{} stored; {} process{} recorded nothing", countText(events.stored), unseen,
                       unseen == 1 ? "" : "es");
  else
    text = fmt::format("{}, complete", countText(events.stored));
  if (events.stalled_ns != 0)
    text += fmt::format("; threads waited {}", durationText(events.stalled_ns));
  return text;
}

// Returns the account of a collector of kernel evidence.
static std::string textOf(const KernelCollector &collector) {
  if (collector.mechanism.empty())
    return fmt::format("{} {}{}", collector.name, collector.state,
                       collector.reason == collector.state ? "" : ": " + collector.reason);
  std::string text = fmt::format("{} {} by {}: {} of {}", collector.name, collector.state, collector.mechanism,
                                 countText(collector.delivered), countText(collector.entered));
  if (const uint64_t lost = collector.ring_full + collector.map_full; lost != 0)
    text += fmt::format(", {} LOST", countText(lost));
  if (collector.unreturned != 0)
    text += fmt::format(", {} never ended", countText(collector.unreturned));
  return text;
}

std::string textOfKernel(const Report &report) {
  std::string text;
  for (const KernelCollector &collector : report.kernel.collectors)
    text += (text.empty() ? "" : "; ") + textOf(collector);
  return text;
}

void writeEntries(TextTable &table, const Report &report) {
  table.entry(report.at ? "alive" : "peak", textOfPeak(report));
  if (const std::string tensors = textOfTensors(report); !tensors.empty())
    table.entry("tensors", tensors);
  if (const std::string floor = textOfFloor(report); !floor.empty())
    table.entry("floor", floor);
  if (!report.at)
    table.entry("leaks", textOfLeaks(report));
  for (const auto &[word, remains] : {std::pair("alive", &report.alive), std::pair("unsure", &report.unsure)})
    if (const std::string text = textOfRemains(*remains); !text.empty() && !report.at)
      table.entry(word, text);
  if (!report.suppressed.empty())
    table.entry("", fmt::format("{} in {} known to be harmless, not counted (all: --json)",
                                bytesText(report.suppressed.sum.bytes), blocksText(report.suppressed.sum.count)));
  table.entry("events", textOfEvents(report));
  if (const std::string kernel = textOfKernel(report); !kernel.empty())
    table.entry("kernel", kernel);
  if (report.duration_ns != 0)
    table.entry("cost",
                fmt::format("collector {} CPU in {}, {} events/s", durationText(report.collector_cpu_ns),
                            durationText(report.duration_ns), countText(static_cast<uint64_t>(report.events_per_s))));
}

void writeNotes(TextTable &table, const Report &report) {
  for (const auto &[word, lines] : {std::pair("damage", &report.damage), std::pair("note", &report.notes)}) {
    for (size_t i = 0; i < std::min(lines->size(), kMaxNotes); ++i)
      table.entry(word, printable((*lines)[i]));
    if (lines->size() > kMaxNotes)
      table.entry(word, fmt::format("{} more: --json has them all", lines->size() - kMaxNotes));
  }
}

} // namespace msleaks::analysis::inline text
