#include "msleaks/analysis/leaks.h"

#include <algorithm>

namespace msleaks::analysis {
namespace {

uint64_t keyOf(SiteId site, abi::Heap heap) { return uint64_t{site.index} << 8 | static_cast<uint8_t>(heap); }
uint64_t keyOf(const SiteRemains &remains) { return keyOf(remains.site, remains.heap); }

template <class Remains> std::vector<SiteRemains> sorted(const Remains &remains) {
  std::vector<SiteRemains> list;
  for (const auto &[key, sum] : remains)
    list.push_back(sum);
  std::sort(list.begin(), list.end(), [](const auto &a, const auto &b) { return keyOf(a) < keyOf(b); });
  return list;
}

} // namespace

BlockSum physicalSum(const std::vector<SiteRemains> &list) {
  BlockSum sum;
  for (const SiteRemains &remains : list)
    if (abi::isPhysical(remains.heap))
      sum += {remains.bytes, remains.count};
  return sum;
}

void LeakAnalyzer::onFree(const Block &block, FreeCause cause, uint64_t time_ns) {
  if (!isEnd(cause) || cause == FreeCause::ProcessExec || block.reserve)
    return;
  const uint64_t age_ns = time_ns > block.time_ns ? time_ns - block.time_ns : 0;
  Remains &remains = cause != FreeCause::ProcessExited         ? alive_
                     : pauses_.mayHaveBeenFreed(block.time_ns) ? unsure_
                                                               : leaked_;
  const auto [at, fresh] = remains.try_emplace(keyOf(block.site, block.heap), SiteRemains{block.site, block.heap});
  at->second += {block.site, block.heap, block.bytes(), 1, block.bytes(), age_ns, age_ns};
}

void LeakAnalyzer::onEvent(const StreamEvent &event, SiteId) { pauses_.apply(event.event.as<abi::EpochEvent>()); }

LeakResult LeakAnalyzer::result() const { return {sorted(leaked_), sorted(alive_), sorted(unsure_)}; }

} // namespace msleaks::analysis
