#include "analysis/exporters/timeline_exporter.h"

#include "analysis/base/syscall_names.h"
#include "analysis/base/tables.h"
#include "analysis/base/text.h"
#include "analysis/text/finding_title.h"
#include "analysis/text/site_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace msleaks::analysis::inline exporters {
namespace {

constexpr size_t kDevices = 256;
constexpr size_t kMostFindings = 100; // a viewer draws them above each other

size_t indexOf(abi::Heap heap, uint8_t device) { return static_cast<size_t>(heap) * kDevices + device; }

std::string nameOfKernel(const ReadRun &run, const StreamEvent &event, const abi::LaunchEvent &launch) {
  const LabelId name = run.kernels.nameOf(event.process, launch.kernel);
  return name.known() ? printable(run.catalog.labels().textOf(name)) : fmt::format("kernel 0x{:x}", launch.kernel);
}

} // namespace

void TimelineExporter::addAccount(const Report &report, std::string name, uint64_t peak_bytes,
                                  std::optional<Account> account, bool of_heap) {
  addCurve(curves_.size(), name);
  curves_.push_back({std::move(name), MemoryCurve(report.duration_ns), peak_bytes, account, of_heap});
}

// The first curve is that of all physical heaps.
void TimelineExporter::begin(ReadRun &run) {
  beginTimeline(run);
  const Report &report = run.report;
  curve_of_.assign(static_cast<size_t>(abi::Heap::Count) * kDevices, 0);
  addAccount(report, "memory in use", report.peak.bytes, std::nullopt, true);
  for (const HeapPeak &heap : report.peak.by_heap) {
    for (size_t device = 0; heap.by_device.empty() && device < kDevices; ++device)
      curve_of_[indexOf(heap.heap, static_cast<uint8_t>(device))] = static_cast<CurveNumber>(curves_.size());
    if (heap.by_device.empty())
      addAccount(report, fmt::format("heap {}", abi::nameOf(heap.heap)), heap.bytes, Account{heap.heap, 0}, true);
    for (const DevicePeak &peak : heap.by_device) {
      curve_of_[indexOf(heap.heap, peak.device)] = static_cast<CurveNumber>(curves_.size());
      addAccount(report, fmt::format("heap {} on device {}", abi::nameOf(heap.heap), peak.device), peak.bytes,
                 Account{heap.heap, peak.device}, false);
    }
  }
}

void TimelineExporter::onAlloc(ReadRun &run, const Block &block, BlockNumber, AllocCause, uint64_t time_ns) {
  change(run, block, time_ns, 1);
}

void TimelineExporter::onFree(ReadRun &run, const Block &block, BlockNumber, FreeCause cause, uint64_t time_ns) {
  change(run, block, time_ns, -1);
  if (isEnd(cause))
    endStep(block.process, time_ns);
}

void TimelineExporter::change(ReadRun &run, const Block &block, uint64_t time_ns, int64_t sign) {
  if (block.bytes() == 0)
    return;
  const int64_t bytes = sign * static_cast<int64_t>(block.bytes());
  if (hasProfiles()) {
    BlockSum &sum = elementAt(sums_, block.cohort.index);
    sum.bytes += static_cast<uint64_t>(bytes);
    sum.count += static_cast<uint64_t>(sign);
  }
  if (const CurveNumber curve = curve_of_[indexOf(block.heap, block.device)]; curve != 0)
    changeCurve(run, curve, time_ns, bytes);
  if (abi::isPhysical(block.heap))
    changeCurve(run, 0, time_ns, bytes);
}

void TimelineExporter::changeCurve(ReadRun &run, size_t number, uint64_t time_ns, int64_t bytes) {
  AccountCurve &of = curves_[number];
  of.curve.change(time_ns, bytes, [&](uint64_t at_ns, uint64_t value) { addPoint(number, at_ns, value); });
  if (of.is_taken || !hasProfiles() || of.curve.bytes() != of.peak_bytes || of.peak_bytes == 0)
    return;
  of.is_taken = true;
  addProfile(run, of.name, time_ns, sharesOf(run, of));
}

std::vector<TimelineExporter::CohortShare> TimelineExporter::sharesOf(const ReadRun &run,
                                                                      const AccountCurve &of) const {
  std::vector<CohortShare> shares;
  for (uint32_t index = 0; index < sums_.size(); ++index) {
    if (sums_[index].bytes == 0)
      continue;
    const Cohort &cohort = run.cohorts[CohortId{index}];
    const bool is_in = !of.account
                           ? abi::isPhysical(cohort.heap)
                           : cohort.heap == of.account->heap && (of.of_heap || cohort.device == of.account->device);
    if (is_in)
      shares.push_back({CohortId{index}, sums_[index]});
  }
  return shares;
}

void TimelineExporter::onEvent(ReadRun &run, const StreamEvent &event, SiteId site) {
  const uint64_t time_ns = event.event.header().time;
  const auto placeText = [&] { return placeOf(textOf(run.catalog.describe(site)), SIZE_MAX); };
  switch (event.event.header().kind) {
  case abi::EventKind::Launch: {
    const auto launch = event.event.as<abi::LaunchEvent>();
    addLaunch({event.process,
               event.stream,
               time_ns,
               time_ns,
               nameOfKernel(run, event, launch),
               {{"grid", fmt::format("{}x{}x{}", launch.grid_x, launch.grid_y, launch.grid_z)},
                {"block", fmt::format("{}x{}x{}", launch.block_x, launch.block_y, launch.block_z)},
                {"shared_bytes", uint64_t{launch.shared_bytes}},
                {"place", placeText()}}});
    return;
  }
  case abi::EventKind::Mark: {
    const auto mark = event.event.as<abi::MarkEvent>();
    addMark({event.process,
             event.stream,
             time_ns,
             time_ns,
             printable(run.catalog.labels().textOf(event.process, mark.label)),
             {{"place", placeText()}}});
    return;
  }
  case abi::EventKind::Task:
    return task_names_.add(event.event.as<abi::TaskEvent>());
  case abi::EventKind::Step:
    return beginStep(event.process, event.event.as<abi::StepEvent>().number, time_ns);
  default:
    return addEvidence(event);
  }
}

void TimelineExporter::addEvidence(const StreamEvent &event) {
  const auto kernel = kernelFactsOf(event.event);
  if (!kernel)
    return;
  const abi::EventHeader &header = event.event.header();
  Slice slice{0, 0, kernel->begin_ns, header.time, abi::nameOf(header.kind), {}, kernel->pid, kernel->tid};
  if (header.kind == abi::EventKind::Syscall) {
    const auto call = event.event.as<abi::SyscallEvent>();
    slice.name = syscallName(call.number);
    slice.facts = {{"result", fmt::to_string(static_cast<int64_t>(call.result))},
                   {"status", std::string(nameOfStatus(call))}};
  } else if (header.kind == abi::EventKind::OffCpu) {
    const auto off = event.event.as<abi::OffCpuEvent>();
    slice.name = "off-cpu";
    slice.facts = {{"queue_ns", off.queue_ns}, {"ran_instead", printable(task_names_.of(off.next_tid))}};
  } else if (header.kind == abi::EventKind::Fault) {
    slice.name = "fault";
    slice.facts = {{"address", event.event.as<abi::FaultEvent>().address}};
  }
  addKernel(slice);
}

void TimelineExporter::beginStep(uint32_t process, uint64_t number, uint64_t time_ns) {
  endStep(process, time_ns);
  steps_[process] = {process, 0, time_ns, time_ns, fmt::format("step {}", number), {{"number", number}}};
}

void TimelineExporter::endStep(uint32_t process, uint64_t time_ns) {
  auto step = steps_.extract(process);
  if (step.empty())
    return;
  step.mapped().end_ns = std::max(time_ns, step.mapped().begin_ns);
  addStep(step.mapped());
}

void TimelineExporter::addFindings(const Report &report) {
  size_t left = kMostFindings;
  for (const Finding &finding : report.findings)
    if (left != 0 && left-- != 0)
      addFinding({0,
                  0,
                  report.start_ns,
                  report.start_ns + report.duration_ns,
                  printable(titleOf(finding)),
                  {{"kind", printable(finding.kind)},
                   {"id", printable(finding.id)},
                   {"place", placeOf(finding.site, SIZE_MAX)},
                   {"bytes", finding.bytes},
                   {"count", finding.count},
                   {"saves_bytes", finding.saves_bytes},
                   {"confidence", std::string(nameOf(finding.confidence))},
                   {"owner", printable(finding.owner)},
                   {"module", printable(finding.module)},
                   {"advice", printable(finding.advice)}}});
}

void TimelineExporter::end(ReadRun &run) {
  for (size_t number = 0; number < curves_.size(); ++number)
    curves_[number].curve.flush([&](uint64_t at_ns, uint64_t value) { addPoint(number, at_ns, value); });
  while (!steps_.empty())
    endStep(steps_.begin()->first, run.report.start_ns + run.report.duration_ns);
  addFindings(run.report);
  endTimeline(run);
}

} // namespace msleaks::analysis::inline exporters
