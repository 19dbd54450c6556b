// Sums up by cause the time of a thread in the kernel during a window, and how much of the window this covers
// (docs/kernel.md).
#pragma once

#include "msleaks/abi/events.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline analyzers {

enum class CauseKind : uint8_t { Syscall, Fault, OffCpu, Queue, Block, Pci, Fence };

// A cause without the texts. `key`: the number of a call, or the thread that ran instead, or that woke the thread.
struct CauseKey {
  CauseKind kind = CauseKind::Syscall;
  uint64_t key = 0;
  auto operator<=>(const CauseKey &) const = default;
};

struct CauseSum {
  uint64_t duration_ns = 0, count = 0;
};

struct Interval {
  uint64_t begin_ns = 0, end_ns = 0;
};

// A part of a thread's time in which the kernel did one thing.
struct KernelSpan {
  Interval time;
  CauseKey cause;
};

// Calls f with each span of the event. An OffCpu event has two: before and after the thread could run again.
template <class F> void forEachSpan(const abi::AnyEvent &event, F &&f) {
  const auto span = [&](uint64_t end_ns, uint64_t duration_ns, CauseKey cause) {
    if (duration_ns != 0)
      f(KernelSpan{{end_ns - std::min(end_ns, duration_ns), end_ns}, cause});
  };
  const uint64_t end_ns = event.header().time;
  switch (event.header().kind) {
  case abi::EventKind::Syscall: {
    const auto call = event.as<abi::SyscallEvent>();
    return span(end_ns, call.duration_ns, {CauseKind::Syscall, call.number});
  }
  case abi::EventKind::Fault:
    return span(end_ns, event.as<abi::FaultEvent>().duration_ns, {CauseKind::Fault, 0});
  case abi::EventKind::OffCpu: {
    const auto off = event.as<abi::OffCpuEvent>();
    const uint64_t queue_ns = std::min(off.queue_ns, off.duration_ns);
    span(end_ns - std::min(end_ns, queue_ns), off.duration_ns - queue_ns, {CauseKind::OffCpu, 0});
    return span(end_ns, queue_ns, {CauseKind::Queue, off.next_tid});
  }
  case abi::EventKind::BlockIo: {
    const auto io = event.as<abi::BlockIoEvent>();
    return span(end_ns, io.duration_ns, {CauseKind::Block, io.operation});
  }
  case abi::EventKind::PciConfig:
    return span(end_ns, event.as<abi::PciConfigEvent>().duration_ns, {CauseKind::Pci, 0});
  case abi::EventKind::Fence:
    return span(end_ns, event.as<abi::FenceEvent>().duration_ns, {CauseKind::Fence, 0});
  default:
    return;
  }
}

// Sums up spans in the order of their ends. Its memory does not grow with their number.
class CauseSums {
public:
  // Spans before this time are not part of the window.
  explicit CauseSums(uint64_t begin_ns = 0) : begin_ns_(begin_ns) {}

  void add(const KernelSpan &span) {
    Interval time{std::max(span.time.begin_ns, begin_ns_), span.time.end_ns};
    if (time.end_ns <= time.begin_ns)
      return;
    CauseSum &sum = sums_[span.cause];
    sum.duration_ns += time.end_ns - time.begin_ns;
    ++sum.count;
    cover(time);
  }
  uint64_t begin() const { return begin_ns_; }
  // The time in which at least one span was: spans lie in each other, as a sleep in a call.
  uint64_t covered() const {
    uint64_t covered_ns = closed_ns_;
    for (const Interval &interval : open_)
      covered_ns += interval.end_ns - interval.begin_ns;
    return covered_ns;
  }
  // The longest cause first.
  std::vector<std::pair<CauseKey, CauseSum>> longest(size_t most) const {
    std::vector<std::pair<CauseKey, CauseSum>> all(sums_.begin(), sums_.end());
    std::stable_sort(all.begin(), all.end(),
                     [](const auto &a, const auto &b) { return a.second.duration_ns > b.second.duration_ns; });
    all.resize(std::min(all.size(), most));
    return all;
  }

private:
  static constexpr size_t kMostOpen = 1024;

  // Only the newest intervals can still lie in a later span.
  void cover(Interval time) {
    while (!open_.empty() && open_.back().end_ns >= time.begin_ns) {
      time.begin_ns = std::min(time.begin_ns, open_.back().begin_ns);
      time.end_ns = std::max(time.end_ns, open_.back().end_ns);
      open_.pop_back();
    }
    open_.push_back(time);
    if (open_.size() <= kMostOpen)
      return;
    for (size_t i = 0; i < kMostOpen / 2; ++i)
      closed_ns_ += open_[i].end_ns - open_[i].begin_ns;
    open_.erase(open_.begin(), open_.begin() + kMostOpen / 2);
  }

  uint64_t begin_ns_;
  std::map<CauseKey, CauseSum> sums_;
  std::vector<Interval> open_; // disjoint, ascending
  uint64_t closed_ns_ = 0;
};

} // namespace msleaks::analysis::inline analyzers
