// Largest blocks: the blocks with the most bytes, with the times of their allocation, of their free and of their uses.
// The page of a report draws them as bars.
#include "analysis/analyzers/registry.h"
#include "analysis/base/session_time.h"
#include "analysis/base/tables.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline analyzers {
namespace {

constexpr size_t kMostBlocks = 200; // as many as the page shows

// The times of the first and of the last use that was seen; 0 = none.
struct SeenUses {
  uint64_t first_ns = 0, last_ns = 0;
};

struct EndedBlock {
  Block block;
  uint64_t end_ns;
  bool is_freed;
  SeenUses uses;

  uint64_t lifetime() const { return end_ns - std::min(block.time_ns, end_ns); }
  // If two blocks have the same size, the one that lives longer comes first.
  bool operator>(const EndedBlock &other) const {
    return std::tuple(block.bytes(), lifetime()) > std::tuple(other.block.bytes(), other.lifetime());
  }
};

class LargestBlocksAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "largest_blocks"; }
  bool wants(abi::Heap heap) const override { return abi::isPhysical(heap); }
  void onUse(const Block &block, const Use &use) override {
    SeenUses &uses = elementAt(uses_, block.id.index);
    if (uses.first_ns == 0)
      uses.first_ns = use.time_ns;
    uses.last_ns = use.time_ns;
  }
  void onFree(const Block &block, FreeCause cause, uint64_t time_ns) override {
    const SeenUses uses = takeUses(block);
    if (block.bytes() < least_bytes_ || block.bytes() == 0)
      return;
    largest_.push_back({block, time_ns, !isEnd(cause), uses});
    std::ranges::push_heap(largest_, std::greater());
    if (largest_.size() <= kMostBlocks)
      return;
    std::ranges::pop_heap(largest_, std::greater());
    largest_.pop_back();
    least_bytes_ = largest_.front().block.bytes();
  }
  void conclude(Conclusion &) const override;

private:
  // A later block may have the same number.
  SeenUses takeUses(const Block &block) {
    return block.id.index < uses_.size() ? std::exchange(uses_[block.id.index], {}) : SeenUses{};
  }

  std::vector<SeenUses> uses_;      // by the block's number
  std::vector<EndedBlock> largest_; // a heap, whose first block is the smallest
  uint64_t least_bytes_ = 0;
};

void LargestBlocksAnalyzer::conclude(Conclusion &conclusion) const {
  if (!conclusion.question.wants_blocks || largest_.empty())
    return;
  Section section{"largest_blocks",
                  "The largest blocks",
                  {{"place", Unit::Place, Fold::Key},
                   {"heap", Unit::Text, Fold::Key},
                   {"bytes", Unit::Bytes, Fold::Key},
                   {"begin_ns", Unit::TimeNs, Fold::Key},
                   {"end_ns", Unit::TimeNs, Fold::First},
                   {"freed", Unit::Text, Fold::First},
                   {"first_use_ns", Unit::TimeNs, Fold::First},
                   {"last_use_ns", Unit::TimeNs, Fold::First}},
                  {},
                  false};
  std::vector<EndedBlock> sorted = largest_;
  std::ranges::sort(sorted, std::greater());
  const auto timeCell = [&](uint64_t time_ns) {
    return time_ns == 0 ? Cell() : Cell(sinceStart(time_ns, conclusion.start_ns));
  };
  for (const EndedBlock &ended : sorted) {
    const Place place = conclusion.lines.places().of(ended.block.site);
    section.rows.push_back({std::make_shared<const SiteText>(textOf(conclusion.catalog, place)),
                            std::string(abi::nameOf(ended.block.heap)), ended.block.bytes(),
                            sinceStart(ended.block.time_ns, conclusion.start_ns),
                            sinceStart(ended.end_ns, conclusion.start_ns), std::string(ended.is_freed ? "yes" : "no"),
                            timeCell(ended.uses.first_ns), timeCell(ended.uses.last_ns)});
  }
  conclusion.result.sections.push_back(std::move(section));
}

} // namespace

MSL_REGISTER_ANALYZER(largest_blocks, LargestBlocksAnalyzer)

} // namespace msleaks::analysis::inline analyzers
