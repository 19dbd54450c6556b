#include "msleaks/analysis/peak.h"

#include <algorithm>

namespace msleaks::analysis {

Peak PeakTracker::peak() const {
  Peak peak{peak_bytes_, peak_time_ns_, {}};
  for (uint32_t index = 0; index < counters_.size(); ++index) {
    const Counter &counter = counters_[index];
    const BlockSum &then = counter.epoch == epoch_ ? counter.at_peak : counter.now;
    if (then.count != 0)
      peak.by_site.push_back({SiteId{index}, then.bytes, then.count});
  }
  return peak;
}

PeakAnalyzer::ProcessSum &PeakAnalyzer::sumOf(uint32_t process) {
  if (!last_sum_ || last_process_ != process) {
    last_sum_ = &processes_[process];
    last_process_ = process;
  }
  return *last_sum_;
}

void PeakAnalyzer::onAlloc(const Block &block, AllocCause, uint64_t time_ns) {
  if (block.reserve)
    return;
  heaps_[static_cast<size_t>(block.heap)].add(block.site, block.size, time_ns);
  if (!abi::isPhysical(block.heap))
    return;
  total_.add(block.site, block.size, time_ns);
  ProcessSum &sum = sumOf(block.process);
  sum.now_bytes += block.size;
  if (sum.now_bytes > sum.peak_bytes) {
    sum.peak_bytes = sum.now_bytes;
    sum.peak_time_ns = time_ns;
  }
}

void PeakAnalyzer::onFree(const Block &block, FreeCause, uint64_t) {
  if (block.reserve)
    return;
  heaps_[static_cast<size_t>(block.heap)].remove(block.site, block.size);
  if (!abi::isPhysical(block.heap))
    return;
  total_.remove(block.site, block.size);
  sumOf(block.process).now_bytes -= block.size;
}

void PeakAnalyzer::onRetarget(const Block &block, SiteId from, uint64_t) {
  if (block.reserve)
    return;
  heaps_[static_cast<size_t>(block.heap)].move(from, block.site, block.size, block.time_ns);
  if (abi::isPhysical(block.heap))
    total_.move(from, block.site, block.size, block.time_ns);
}

PeakResult PeakAnalyzer::result() const {
  PeakResult result;
  result.total = total_.peak();
  for (size_t heap = 0; heap < heaps_.size(); ++heap)
    result.by_heap[heap] = heaps_[heap].peak();
  for (const auto &[process, sum] : processes_)
    if (sum.peak_bytes != 0)
      result.by_process.push_back({process, sum.peak_bytes, sum.peak_time_ns});
  std::sort(result.by_process.begin(), result.by_process.end(),
            [](const auto &a, const auto &b) { return a.process < b.process; });
  return result;
}

} // namespace msleaks::analysis
