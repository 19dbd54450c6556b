// Kernel: what the kernel did while the slowest allocations, launches, copies and steps took their time
// (docs/kernel.md).
#include "analysis/analyzers/registry.h"
#include "analysis/analyzers/slow_operations.h"
#include "analysis/base/syscall_names.h"
#include "analysis/base/task_name.h"
#include "analysis/base/text.h"
#include "analysis/places/place.h"

#include <array>
#include <fmt/format.h>
#include <memory>
#include <string>

namespace msleaks::analysis::inline analyzers {
namespace {

const char *nameOf(CauseKind kind) {
  constexpr const char *kNames[] = {"syscall", "fault", "off-cpu", "queue", "block", "pci", "fence"};
  return kNames[static_cast<size_t>(kind)];
}

const char *nameOf(SlowKind kind) {
  constexpr const char *kNames[] = {"alloc", "launch", "copy", "set", "step"};
  return kNames[static_cast<size_t>(kind)];
}

SlowKind kindOf(const abi::TookEvent &took) {
  constexpr SlowKind kKinds[] = {SlowKind::Alloc, SlowKind::Launch, SlowKind::Copy, SlowKind::Set};
  return kKinds[took.thread >> abi::kTookKindShift & 3];
}

using StreamKey = std::pair<uint32_t, uint32_t>; // process and stream

// The last operations of all threads. The event Took follows its operation in the stream, so only few events of other
// threads are between them.
class LastOperations {
public:
  struct Operation {
    StreamKey stream;
    SlowKind kind = SlowKind::Alloc;
    SiteId site;
  };
  void add(const Operation &operation) { last_[next_++ % last_.size()] = operation; }
  const Operation *of(StreamKey stream, SlowKind kind) const {
    for (size_t back = 1; back <= std::min(next_, last_.size()); ++back)
      if (const Operation &operation = last_[(next_ - back) % last_.size()];
          operation.stream == stream && operation.kind == kind)
        return &operation;
    return nullptr;
  }

private:
  std::array<Operation, 64> last_{};
  size_t next_ = 0;
};

class KernelAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "kernel"; }
  uint32_t eventKinds() const override {
    return abi::enabledBit(abi::EventKind::Took) | abi::enabledBit(abi::EventKind::Launch) |
           abi::enabledBit(abi::EventKind::Copy) | abi::enabledBit(abi::EventKind::Set) |
           abi::enabledBit(abi::EventKind::Step);
  }
  void onEvent(const StreamEvent &, SiteId) override;
  void onAlloc(const Block &block, AllocCause, uint64_t) override {
    last_.add({{block.process, block.stream}, SlowKind::Alloc, block.site});
    if (!announced_.empty()) [[unlikely]]
      finishAnnounced(block);
  }
  void conclude(Conclusion &) const override;

private:
  // A call that has ended, and whose Alloc follows.
  struct Announced {
    uint32_t tid;
    Interval time;
  };
  void onTook(const StreamEvent &);
  void onStep(const StreamEvent &, SiteId);
  void startStep(StreamKey, uint32_t tid);
  void finishAnnounced(const Block &);
  void addOperation(SlowKind, SiteId, uint32_t tid, Interval);
  void nameTask(const abi::TaskEvent &);
  std::string nameOfCause(const CauseKey &) const;
  void countCall(const abi::SyscallEvent &);
  Section slowestSection(const std::vector<SlowOperation> &) const;
  Section callsSection() const;

  struct CallSum {
    uint64_t count = 0, errors = 0, duration_ns = 0, longest_ns = 0;
  };
  struct Step {
    SiteId site;
    uint64_t begin_ns = 0;
    uint32_t tid = 0;
  };
  static constexpr size_t kMostNames = 65536;

  LastOperations last_;
  ThreadSpans spans_;
  SlowestOperations slowest_;
  std::map<StreamKey, Announced> announced_;
  std::map<StreamKey, Step> steps_, new_steps_; // open steps; a new one waits for the number of its thread
  std::map<uint32_t, std::string> names_;       // of threads
  std::map<uint16_t, CallSum> calls_;           // by the number of the call
};

void KernelAnalyzer::onEvent(const StreamEvent &event, SiteId site) {
  const abi::EventKind kind = event.event.header().kind;
  const auto remember = [&](SlowKind what) { last_.add({{event.process, event.stream}, what, site}); };
  switch (kind) {
  case abi::EventKind::Launch:
    return remember(SlowKind::Launch);
  case abi::EventKind::Copy:
    return remember(SlowKind::Copy);
  case abi::EventKind::Set:
    return remember(SlowKind::Set);
  case abi::EventKind::Step:
    return onStep(event, site);
  case abi::EventKind::Took:
    return onTook(event);
  case abi::EventKind::Task:
    return nameTask(event.event.as<abi::TaskEvent>());
  default:
    break;
  }
  if (kind == abi::EventKind::Syscall)
    countCall(event.event.as<abi::SyscallEvent>());
  uint32_t pid = 0, tid = 0;
  abi::dispatch(event.event, [&](const auto &fields) {
    if constexpr (requires { fields.of_tid; }) {
      pid = fields.of_pid;
      tid = fields.of_tid;
    }
  });
  if (tid != 0)
    forEachSpan(event.event, [&](const KernelSpan &span) { spans_.add(tid, pid, span); });
}

void KernelAnalyzer::nameTask(const abi::TaskEvent &task) {
  if (names_.size() < kMostNames || names_.contains(task.of_tid))
    names_[task.of_tid] = nameOfTask(task);
}

void KernelAnalyzer::onTook(const StreamEvent &event) {
  const auto took = event.event.as<abi::TookEvent>();
  const StreamKey stream{event.process, event.stream};
  const auto tid = static_cast<uint32_t>(took.thread);
  const uint64_t end_ns = took.header.time;
  const Interval time{end_ns - std::min(end_ns, took.duration_ns), end_ns};
  if (took.duration_ns == 0)
    return startStep(stream, tid);
  if ((took.thread & abi::kTookIsFirst) != 0)
    announced_[stream] = {tid, time};
  else if (const auto *operation = last_.of(stream, kindOf(took)))
    addOperation(operation->kind, operation->site, tid, time);
}

void KernelAnalyzer::finishAnnounced(const Block &block) {
  const auto announced = announced_.extract({block.process, block.stream});
  if (!announced.empty())
    addOperation(SlowKind::Alloc, block.site, announced.mapped().tid, announced.mapped().time);
}

void KernelAnalyzer::addOperation(SlowKind kind, SiteId site, uint32_t tid, Interval time) {
  const CauseSums sums = spans_.take(tid, time);
  const uint64_t duration_ns = time.end_ns - time.begin_ns;
  if (slowest_.wants(kind, duration_ns))
    slowest_.add({kind, site, spans_.pidOf(tid), tid, duration_ns, time.end_ns, std::min(sums.covered(), duration_ns),
                  sums.longest(SlowestOperations::kMostCauses)});
}

void KernelAnalyzer::onStep(const StreamEvent &event, SiteId site) {
  new_steps_[{event.process, event.stream}] = {site, event.event.header().time, 0};
}

// The step before it in the same thread ends.
void KernelAnalyzer::startStep(StreamKey stream, uint32_t tid) {
  auto next = new_steps_.extract(stream);
  if (next.empty())
    return;
  next.mapped().tid = tid;
  const CauseSums sums = spans_.takeStep(tid, next.mapped().begin_ns);
  Step &step = steps_[stream];
  if (step.tid == tid && slowest_.wants(SlowKind::Step, next.mapped().begin_ns - step.begin_ns)) {
    const uint64_t duration_ns = next.mapped().begin_ns - step.begin_ns;
    slowest_.add({SlowKind::Step, step.site, spans_.pidOf(tid), tid, duration_ns, next.mapped().begin_ns,
                  std::min(sums.covered(), duration_ns), sums.longest(SlowestOperations::kMostCauses)});
  }
  step = next.mapped();
}

std::string KernelAnalyzer::nameOfCause(const CauseKey &cause) const {
  switch (cause.kind) {
  case CauseKind::Syscall:
    return syscallName(static_cast<uint32_t>(cause.key));
  case CauseKind::Block:
    return cause.key == 0 ? "read" : cause.key == 1 ? "write" : "other";
  case CauseKind::Queue: {
    const auto name = names_.find(static_cast<uint32_t>(cause.key));
    return name != names_.end() ? name->second : "";
  }
  default:
    return "";
  }
}

void KernelAnalyzer::countCall(const abi::SyscallEvent &call) {
  if (call.status != 0)
    return;
  CallSum &sum = calls_[call.number];
  ++sum.count;
  sum.errors += static_cast<int64_t>(call.result) < 0 && static_cast<int64_t>(call.result) >= -4095;
  sum.duration_ns += call.duration_ns;
  sum.longest_ns = std::max(sum.longest_ns, call.duration_ns);
}

// "futex 20.1 ms, off-cpu 20.0 ms"
std::string causesText(const SlowOperation &slow) {
  std::string text;
  for (const KernelCause &cause : slow.causes)
    text += fmt::format("{}{}{}{} {}{}", text.empty() ? "" : ", ", cause.kind == "syscall" ? "" : cause.kind,
                        cause.kind == "syscall" || cause.name.empty() ? "" : " ", cause.name,
                        durationText(cause.duration_ns),
                        cause.count > 1 ? fmt::format(" in {}", countText(cause.count)) : "");
  return text;
}

Section KernelAnalyzer::slowestSection(const std::vector<SlowOperation> &all) const {
  Section section{"slowest",
                  "Slow operations, and what the kernel did meanwhile",
                  {{"what", Unit::Text, Fold::Key},
                   {"place", Unit::Place, Fold::Key},
                   {"duration_ns", Unit::TimeNs, Fold::Largest},
                   {"unexplained_ns", Unit::TimeNs, Fold::Largest},
                   {"causes", Unit::Text, Fold::First}},
                  {}};
  for (const SlowOperation &slow : all)
    section.rows.push_back({slow.what, std::make_shared<const SiteText>(slow.site), slow.duration_ns,
                            slow.duration_ns - slow.explained_ns, causesText(slow)});
  return section;
}

Section KernelAnalyzer::callsSection() const {
  Section section{"syscalls",
                  "System calls",
                  {{"call", Unit::Text, Fold::Key},
                   {"count", Unit::Count},
                   {"errors", Unit::Count},
                   {"duration_ns", Unit::TimeNs},
                   {"longest_ns", Unit::TimeNs, Fold::Largest}},
                  {}};
  for (const auto &[number, sum] : calls_)
    section.rows.push_back({syscallName(number), sum.count, sum.errors, sum.duration_ns, sum.longest_ns});
  std::stable_sort(section.rows.begin(), section.rows.end(),
                   [](const auto &a, const auto &b) { return std::get<uint64_t>(a[3]) > std::get<uint64_t>(b[3]); });
  return section;
}

void KernelAnalyzer::conclude(Conclusion &conclusion) const {
  Places places(conclusion.catalog);
  for (const SlowCandidate &candidate : slowest_.sorted()) {
    SlowOperation &slow = conclusion.result.kernel.slowest.emplace_back();
    slow.what = nameOf(candidate.kind);
    slow.site = textOf(conclusion.catalog, places.of(candidate.site));
    slow.duration_ns = candidate.duration_ns;
    slow.explained_ns = candidate.covered_ns;
    slow.time_ns = candidate.end_ns;
    slow.pid = candidate.pid;
    slow.tid = candidate.tid;
    for (const auto &[cause, sum] : candidate.causes)
      slow.causes.push_back({nameOf(cause.kind), nameOfCause(cause), sum.duration_ns, sum.count});
  }
  if (const auto &all = conclusion.result.kernel.slowest; !all.empty())
    conclusion.result.sections.push_back(slowestSection(all));
  if (!calls_.empty())
    conclusion.result.sections.push_back(callsSection());
}

} // namespace

MSL_REGISTER_ANALYZER(kernel, KernelAnalyzer)

} // namespace msleaks::analysis::inline analyzers
