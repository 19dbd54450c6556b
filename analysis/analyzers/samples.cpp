// Samples: places whose many small host blocks are too large. The content of a sample of these blocks shows this
// (docs/analyses.md).
#include "analysis/analyzers/registry.h"
#include "analysis/base/tables.h"
#include "analysis/base/text.h"
#include "analysis/findings/advice.h"
#include "analysis/findings/keeper.h"
#include "analysis/places/place.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <unordered_map>
#include <utility>

namespace msleaks::analysis::inline analyzers {
namespace {

constexpr uint64_t kLeastSamples = 8;
// A block is too large if at least this share of it is one range of zeros. A finding needs the same share of all its
// blocks.
constexpr double kLeastShare = 0.5;
constexpr size_t kMostOpen = 1 << 16; // the collector looks at far fewer blocks at a time

// Sums over sampled blocks. The chance of a block to be in the sample is proportional to its size. So each sampled
// block stands for the same number of bytes of its place.
struct Sampled {
  uint64_t count = 0;
  double zero_shares = 0;   // share of the block that is one range of zeros
  double blocks_a_byte = 0; // 1 / size of the block
  uint64_t largest_bytes = 0;

  Sampled &operator+=(const Sampled &other) {
    count += other.count;
    zero_shares += other.zero_shares;
    blocks_a_byte += other.blocks_a_byte;
    largest_bytes = std::max(largest_bytes, other.largest_bytes);
    return *this;
  }
  double zeroShare() const { return zero_shares / static_cast<double>(count); }
  double blockBytes() const { return static_cast<double>(count) / blocks_a_byte; }
};

class SamplesAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "samples"; }
  bool wants(abi::Heap heap) const override { return heap == abi::Heap::Host; }
  void onAlloc(const Block &block, AllocCause, uint64_t) override {
    uint64_t &largest_bytes = elementAt(largest_bytes_, block.cohort.index);
    largest_bytes = std::max(largest_bytes, block.size);
  }
  void onPages(const Block &block, const TouchedPages &pages) override;
  void conclude(Conclusion &) const override;

private:
  // A live sampled block whose last look has not happened yet.
  struct Open {
    uint64_t time_ns = 0, needed_bytes = 0;
  };
  struct PlaceSample {
    Place place;
    Sampled sampled;
    std::vector<CohortId> cohorts;
  };
  std::map<Keeper, PlaceSample> byKeeper(Conclusion &) const;

  std::vector<uint64_t> largest_bytes_;     // by cohort: size of its largest block
  std::vector<Sampled> sampled_;            // by cohort
  std::unordered_map<uint32_t, Open> open_; // by number of the block
};

void SamplesAnalyzer::onPages(const Block &block, const TouchedPages &pages) {
  if (!pages.is_sample || block.size == 0)
    return;
  if (open_.size() >= kMostOpen) // most of these blocks were freed without a last look
    open_.clear();
  Open &open = open_[block.id.index];
  if (open.time_ns != block.time_ns)
    open = {block.time_ns, 0};
  open.needed_bytes = std::max(open.needed_bytes, std::min(pages.bytes, block.size));
  if (!pages.is_last)
    return;
  const auto size = static_cast<double>(block.size);
  const double zeros = 1 - static_cast<double>(open.needed_bytes) / size;
  elementAt(sampled_, block.cohort.index) += {1, zeros >= kLeastShare ? zeros : 0, 1 / size, block.size};
  open_.erase(block.id.index);
}

// A cohort that also has much larger blocks is left out, because the sample contains none of them. Blocks of closed
// libraries are left out, because the user cannot change their size.
std::map<Keeper, SamplesAnalyzer::PlaceSample> SamplesAnalyzer::byKeeper(Conclusion &conclusion) const {
  std::map<Keeper, PlaceSample> by_keeper;
  for (uint32_t index = 1; index < sampled_.size(); ++index) {
    const Sampled &sampled = sampled_[index];
    if (sampled.count == 0 || valueAt(largest_bytes_, index) > 2 * sampled.largest_bytes)
      continue;
    const auto kept = ownKeeperOf(conclusion.cohorts[{index}], conclusion);
    if (!kept || !kept->keeper.closed_library.empty())
      continue;
    PlaceSample &sample = by_keeper[kept->keeper];
    sample.place = kept->place;
    sample.sampled += sampled;
    sample.cohorts.push_back({index});
  }
  std::erase_if(by_keeper, [](const auto &entry) {
    return entry.second.sampled.count < kLeastSamples || entry.second.sampled.zeroShare() < kLeastShare;
  });
  return by_keeper;
}

uint64_t rounded(double number) { return static_cast<uint64_t>(std::llround(number)); }

// Adds this share of the cohort's bytes at each moment to `absence`. Returns the largest number of these bytes.
uint64_t addShare(CohortId cohort, double share, Conclusion &conclusion, Absence &absence) {
  CohortSet set(conclusion.cohorts.size());
  set[cohort.index] = true;
  const std::vector<int64_t> curve = conclusion.history().curveOf(set);
  const std::vector<uint64_t> times = conclusion.timesOfCurves();
  int64_t before = 0, most = 0;
  for (size_t i = 0; i < curve.size(); ++i) {
    const auto bytes = static_cast<int64_t>(static_cast<double>(std::max<int64_t>(curve[i], 0)) * share);
    if (bytes != before)
      absence.blocks.push_back({cohort, bytes - before, times[i]});
    before = bytes;
    most = std::max(most, bytes);
  }
  return static_cast<uint64_t>(most);
}

struct ZerosOfKeeper : KeptBlocks {
  Sampled sampled;
};

Draft<Finding> findingOf(const Keeper &keeper, const ZerosOfKeeper &zeros, Conclusion &conclusion) {
  auto draft = draftOf(finding_kinds::kOverallocated, keeper, zeros.place, zeros.cohorts, conclusion);
  Finding &finding = draft.line;
  finding.confidence = Confidence::Hint;
  const double block_bytes = zeros.sampled.blockBytes();
  const uint64_t size = rounded(block_bytes), needed = rounded(block_bytes * (1 - zeros.sampled.zeroShare()));
  finding.evidence = {{"sampled_blocks", zeros.sampled.count}, {"block_bytes", size}, {"needed_bytes", needed}};
  finding.advice = fmt::format("Ask for less in {}, unless the program needs these zeros: about {} of {} in a block "
                               "hold anything else.",
                               functionIn(finding.site), bytesText(needed), bytesText(size));
  return draft;
}

void SamplesAnalyzer::conclude(Conclusion &conclusion) const {
  if (conclusion.question.policy != Policy::Effect)
    return;
  std::map<Keeper, ZerosOfKeeper> by_keeper;
  for (const auto &[keeper, sample] : byKeeper(conclusion)) {
    ZerosOfKeeper &zeros = by_keeper[keeper];
    zeros.place = sample.place;
    zeros.sampled = sample.sampled;
    const double share = sample.sampled.zeroShare();
    for (const CohortId cohort : sample.cohorts) {
      const uint64_t bytes = addShare(cohort, share, conclusion, zeros.absence);
      const double blocks = static_cast<double>(bytes) / share / sample.sampled.blockBytes();
      zeros.cohorts.push_back({cohort, bytes, rounded(blocks)});
    }
  }
  addFindings(by_keeper, conclusion,
              [&](const Keeper &keeper, const ZerosOfKeeper &zeros) { return findingOf(keeper, zeros, conclusion); });
}

} // namespace

MSL_REGISTER_ANALYZER(samples, SamplesAnalyzer)

} // namespace msleaks::analysis::inline analyzers
