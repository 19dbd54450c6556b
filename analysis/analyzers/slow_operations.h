// Finds the slowest operations of each kind while the events pass, with the evidence of their thread (docs/kernel.md).
#pragma once

#include "analysis/analyzers/kernel_causes.h"
#include "analysis/places/site.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline analyzers {

enum class SlowKind : uint8_t { Alloc, Launch, Copy, Set, Step, Count };

struct SlowCandidate {
  SlowKind kind = SlowKind::Alloc;
  SiteId site;
  uint32_t pid = 0, tid = 0;
  uint64_t duration_ns = 0, end_ns = 0, covered_ns = 0;
  std::vector<std::pair<CauseKey, CauseSum>> causes;
};

// The spans of threads that no operation has claimed yet, and the sums since the thread's last step.
class ThreadSpans {
public:
  void add(uint32_t tid, uint32_t pid, const KernelSpan &span) {
    Thread &thread = at(tid);
    thread.pid = pid;
    thread.last_ns = span.time.end_ns;
    thread.spans.push_back(span);
    if (thread.spans.size() > kMostSpans)
      thread.spans.pop_front();
    thread.step.add(span);
  }
  // The sums of a window of the thread. Later windows of the thread begin after this one, so its spans are dropped.
  CauseSums take(uint32_t tid, Interval window) {
    CauseSums sums(window.begin_ns);
    Thread &thread = at(tid);
    for (const KernelSpan &span : thread.spans)
      sums.add(span);
    thread.spans.clear();
    return sums;
  }
  // The sums since the last call of this function for the thread.
  CauseSums takeStep(uint32_t tid, uint64_t next_begin_ns) {
    return std::exchange(at(tid).step, CauseSums(next_begin_ns));
  }
  uint32_t pidOf(uint32_t tid) { return at(tid).pid; }

private:
  static constexpr size_t kMostSpans = 4096, kMostThreads = 512;
  struct Thread {
    uint32_t pid = 0;
    uint64_t last_ns = 0;
    std::deque<KernelSpan> spans;
    CauseSums step;
  };

  Thread &at(uint32_t tid) {
    if (const auto known = threads_.find(tid); known != threads_.end())
      return known->second;
    if (threads_.size() >= kMostThreads)
      threads_.erase(std::min_element(threads_.begin(), threads_.end(), [](const auto &a, const auto &b) {
        return a.second.last_ns < b.second.last_ns;
      }));
    return threads_[tid];
  }
  std::map<uint32_t, Thread> threads_;
};

// The slowest operations of each kind.
class SlowestOperations {
public:
  static constexpr size_t kMost = 100, kMostCauses = 8;

  bool wants(SlowKind kind, uint64_t duration_ns) const {
    const auto &list = of(kind);
    return list.size() < kMost || duration_ns > list.front().duration_ns;
  }
  void add(SlowCandidate candidate) {
    auto &list = lists_[static_cast<size_t>(candidate.kind)];
    const auto isSlower = [](const SlowCandidate &a, const SlowCandidate &b) { return a.duration_ns > b.duration_ns; };
    list.push_back(std::move(candidate));
    std::push_heap(list.begin(), list.end(), isSlower);
    if (list.size() <= kMost)
      return;
    std::pop_heap(list.begin(), list.end(), isSlower);
    list.pop_back();
  }
  // The slowest of all kinds first.
  std::vector<SlowCandidate> sorted() const {
    std::vector<SlowCandidate> all;
    for (const auto &list : lists_)
      all.insert(all.end(), list.begin(), list.end());
    std::sort(all.begin(), all.end(), [](const SlowCandidate &a, const SlowCandidate &b) {
      return std::pair(b.duration_ns, a.end_ns) < std::pair(a.duration_ns, b.end_ns);
    });
    return all;
  }

private:
  const std::vector<SlowCandidate> &of(SlowKind kind) const { return lists_[static_cast<size_t>(kind)]; }
  std::vector<SlowCandidate> lists_[static_cast<size_t>(SlowKind::Count)]; // heaps: the fastest in front
};

} // namespace msleaks::analysis::inline analyzers
