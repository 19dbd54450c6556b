// Leaks: what is alive when its process has ended, by site (docs/report.md).
#pragma once

#include "msleaks/analysis/analyzer.h"
#include "msleaks/analysis/pauses.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis {

// Blocks of one site in one heap that were alive at the end of their process.
struct SiteRemains {
  SiteId site;
  abi::Heap heap = abi::Heap::Host;
  uint64_t bytes = 0, count = 0;
  uint64_t largest_bytes = 0;
  uint64_t oldest_age_ns = 0, newest_age_ns = UINT64_MAX; // at the end of their process

  // The blocks of another one, with them.
  SiteRemains &operator+=(const SiteRemains &other) {
    bytes += other.bytes;
    count += other.count;
    largest_bytes = std::max(largest_bytes, other.largest_bytes);
    oldest_age_ns = std::max(oldest_age_ns, other.oldest_age_ns);
    newest_age_ns = std::min(newest_age_ns, other.newest_age_ns);
    return *this;
  }
};

// A sum over blocks.
struct BlockSum {
  uint64_t bytes = 0, count = 0;
  BlockSum &operator+=(const BlockSum &other) {
    bytes += other.bytes;
    count += other.count;
    return *this;
  }
  bool operator==(const BlockSum &) const = default;
};

struct LeakResult {
  std::vector<SiteRemains> leaked; // by site and heap, ascending; its process exited
  std::vector<SiteRemains> alive;  // the same; its process was killed, or goes on
  std::vector<SiteRemains> unsure; // its process exited; its free may lie in a pause of the recording
};

// Sum over the physical heaps; pools hand out parts of blocks that are counted already.
BlockSum physicalSum(const std::vector<SiteRemains> &);

class LeakAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "leaks"; }
  uint32_t eventKinds() const override { return abi::enabledBit(abi::EventKind::Epoch); }
  void onEvent(const StreamEvent &, SiteId) override;
  void onFree(const Block &, FreeCause, uint64_t time_ns) override;
  LeakResult result() const;

private:
  using Remains = std::unordered_map<uint64_t, SiteRemains>; // by site and heap
  Remains leaked_, alive_, unsure_;
  Pauses pauses_;
};

} // namespace msleaks::analysis
