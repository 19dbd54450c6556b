// Owners: the memory of each owner that the program or a path names, framework@component@…, each with all owners below
// it (docs/analyses.md).
#include "analysis/analyzers/registry.h"
#include "analysis/base/session_time.h"
#include "analysis/live/at_peak.h"
#include "analysis/live/owner_tree.h"
#include "analysis/live/segments.h"
#include "analysis/places/path_owners.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

namespace msleaks::analysis::inline analyzers {
namespace {

using NodeId = OwnerTree::NodeId;

// The sums of a node of the tree, including all nodes below it.
struct Owned {
  AtPeak<uint64_t> bytes;
  uint64_t highest_bytes = 0, highest_ns = 0;
  uint64_t end_bytes = 0; // alive at the ends of their processes
};

// The parts of a segment that a pool has allocated.
struct HandedOut {
  uint64_t bytes = 0;
  std::map<NodeId, uint64_t> by_owner;
};
using OwnedSegment = Segments<HandedOut>::Segment;

// The bytes of each node at the start of a step. If there are kMostSteps, removes every second one.
struct StepOfOwners {
  uint64_t number, time_ns;
  std::vector<uint64_t> bytes; // by node
};
constexpr size_t kMostSteps = 128;

class OwnersAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "owners"; }
  uint32_t eventKinds() const override { return abi::enabledBit(abi::EventKind::Step); }
  void useCohorts(const Cohorts &cohorts, SiteCatalog &catalog) override { tree_.emplace(cohorts, catalog); }
  bool usePeaks(const Peaks &peaks) override {
    peaks_ = &peaks;
    return true;
  }

  void onEvent(const StreamEvent &event, SiteId) override;
  void onAlloc(const Block &block, AllocCause, uint64_t time_ns) override {
    if (counts(block))
      add(tree_->of(block.cohort), block.size, time_ns);
  }
  void onFree(const Block &, FreeCause, uint64_t time_ns) override;
  void onPart(const Block &part, const Block &whole, uint64_t time_ns) override;
  void onRetarget(const Block &block, const Block &before, uint64_t time_ns) override;
  void conclude(Conclusion &) const override;

private:
  static bool counts(const Block &block) { return !block.reserve && abi::isPhysical(block.heap); }
  uint64_t peakNumber() const { return peaks_->physical().clock().number(); }
  void add(NodeId node, uint64_t bytes, uint64_t time_ns) {
    tree_->forEachUp(node, [&](NodeId at) {
      Owned &owned = elementAt(owned_, at.index);
      const uint64_t now = owned.bytes.touch(peakNumber()) += bytes;
      if (now > owned.highest_bytes) {
        owned.highest_bytes = now;
        owned.highest_ns = time_ns;
      }
    });
  }
  void remove(NodeId node, uint64_t bytes, bool is_end) {
    tree_->forEachUp(node, [&](NodeId at) {
      Owned &owned = elementAt(owned_, at.index);
      owned.bytes.touch(peakNumber()) -= bytes;
      owned.end_bytes += is_end ? bytes : 0;
    });
  }
  // The bytes were alive at the peak, and belonged to the other node there.
  void moveAtPeak(NodeId from, NodeId to, uint64_t bytes) {
    const uint64_t peak = peakNumber();
    tree_->forEachUp(to, [&](NodeId at) { owned_[at.index].bytes.changeThen(peak) += bytes; });
    tree_->forEachUp(from, [&](NodeId at) {
      uint64_t &then = owned_[at.index].bytes.changeThen(peak);
      then -= std::min(then, bytes);
    });
  }
  void freePart(const Block &, bool is_end, uint64_t time_ns);
  void freeParts(const OwnedSegment &, bool is_end, uint64_t time_ns);
  Cell nameOf(NodeId node) const { return node == NodeId{} ? Cell() : Cell(tree_->pathOf(node)); }
  Section owners(uint64_t start_ns) const;
  Section steps() const;

  const Peaks *peaks_ = nullptr;
  std::optional<OwnerTree> tree_;
  std::vector<Owned> owned_; // by node
  Segments<HandedOut> segments_;
  std::vector<uint64_t> taken_; // by number of a pool's block: the segment's bytes that it uses
  std::vector<StepOfOwners> steps_;
  uint64_t seen_steps_ = 0, stride_ = 1;
  std::optional<uint64_t> last_number_;
};

// A pool's part counts for its own owner, but all parts together count at most the segment's size. The rest of the
// segment counts for the segment's owner.
void OwnersAnalyzer::onPart(const Block &part, const Block &whole, uint64_t time_ns) {
  OwnedSegment &segment = segments_.add(part, whole);
  HandedOut &handed_out = segment.content;
  const uint64_t bytes = std::min(part.size, whole.bytes() - std::min(handed_out.bytes, whole.bytes()));
  const NodeId owner = tree_->of(part.cohort);
  elementAt(taken_, part.id.index) = bytes;
  handed_out.bytes += bytes;
  handed_out.by_owner[owner] += bytes;
  remove(tree_->of(segment.block.cohort), bytes, false);
  add(owner, bytes, time_ns);
}

void OwnersAnalyzer::freePart(const Block &part, bool is_end, uint64_t time_ns) {
  OwnedSegment *segment = segments_.takePart(part);
  if (!segment)
    return;
  const NodeId owner = tree_->of(part.cohort);
  const uint64_t bytes = taken_[part.id.index];
  segment->content.by_owner[owner] -= bytes;
  remove(owner, bytes, is_end);
  if (is_end)
    return; // the rest of the segment ends with the segment
  segment->content.bytes -= bytes;
  add(tree_->of(segment->block.cohort), bytes, time_ns);
}

// The segment ends before its parts.
void OwnersAnalyzer::freeParts(const OwnedSegment &segment, bool is_end, uint64_t time_ns) {
  for (const auto &[owner, bytes] : segment.content.by_owner) {
    remove(owner, bytes, is_end);
    if (!is_end)
      add(tree_->of(segment.block.cohort), bytes, time_ns);
  }
}

void OwnersAnalyzer::onFree(const Block &block, FreeCause cause, uint64_t time_ns) {
  const bool is_end = isEnd(cause);
  if (block.heap == abi::Heap::Pool)
    return freePart(block, is_end, time_ns);
  if (!counts(block))
    return;
  uint64_t bytes = block.size;
  if (const OwnedSegment *segment = segments_.find(block)) {
    freeParts(*segment, is_end, time_ns);
    bytes -= is_end ? segment->content.bytes : 0;
    segments_.erase(block);
  }
  remove(tree_->of(block.cohort), bytes, is_end);
}

// If a segment gets another owner, its parts keep theirs.
void OwnersAnalyzer::onRetarget(const Block &block, const Block &before, uint64_t time_ns) {
  const NodeId from = tree_->of(before.cohort), to = tree_->of(block.cohort);
  if (from == to)
    return;
  uint64_t bytes = counts(block) ? block.size : 0;
  if (OwnedSegment *part_of = block.heap == abi::Heap::Pool ? segments_.of(block) : nullptr) {
    bytes = taken_[block.id.index];
    part_of->content.by_owner[from] -= bytes;
    part_of->content.by_owner[to] += bytes;
  } else if (OwnedSegment *segment = bytes != 0 ? segments_.find(block) : nullptr) {
    bytes -= std::min(segment->content.bytes, bytes);
    segment->block.cohort = block.cohort;
  }
  remove(from, bytes, false);
  add(to, bytes, time_ns);
  if (block.time_ns <= peaks_->physical().clock().timeNs())
    moveAtPeak(from, to, bytes);
}

void OwnersAnalyzer::onEvent(const StreamEvent &event, SiteId) {
  const auto step = event.event.as<abi::StepEvent>();
  if (step.number == last_number_)
    return; // another thread or process reported the same step
  last_number_ = step.number;
  if (seen_steps_++ % stride_ != 0)
    return;
  StepOfOwners &kept = steps_.emplace_back(StepOfOwners{step.number, step.header.time, {}});
  for (const Owned &owned : owned_)
    kept.bytes.push_back(owned.bytes.now());
  if (steps_.size() < kMostSteps)
    return;
  for (size_t i = 0; i < kMostSteps / 2; ++i)
    steps_[i] = std::move(steps_[2 * i]);
  steps_.resize(kMostSteps / 2);
  stride_ *= 2;
}

Section OwnersAnalyzer::owners(uint64_t start_ns) const {
  Section section{.name = "owners",
                  .title = "Owners, each with all below it",
                  .columns = {{"owner", Unit::Text, Fold::Key},
                              {"at_peak", Unit::Bytes, Fold::First},
                              {"at_end", Unit::Bytes, Fold::First},
                              {"highest", Unit::Bytes, Fold::First},
                              {"highest_since_start", Unit::TimeNs, Fold::First}},
                  .rows = {}};
  for (const NodeId node : tree_->inOrder()) {
    const Owned owned = valueAt(owned_, node.index);
    if (owned.highest_bytes != 0)
      section.rows.push_back({nameOf(node), owned.bytes.then(peakNumber()), owned.end_bytes, owned.highest_bytes,
                              sinceStart(owned.highest_ns, start_ns)});
  }
  return section;
}

Section OwnersAnalyzer::steps() const {
  Section section{.name = "owner_steps",
                  .title = "Owners, at the beginnings of steps",
                  .columns = {{"owner", Unit::Text, Fold::Key},
                              {"step", Unit::Count, Fold::Key},
                              {"bytes", Unit::Bytes, Fold::First}},
                  .rows = {},
                  .in_text = false};
  for (const NodeId node : tree_->inOrder())
    for (const StepOfOwners &step : steps_)
      if (const uint64_t bytes = valueAt(step.bytes, node.index); bytes != 0)
        section.rows.push_back({nameOf(node), step.number, bytes});
  return section;
}

// Without names of operators or by the program, all blocks belong to libraries and imports, which the peak lists
// already.
void OwnersAnalyzer::conclude(Conclusion &conclusion) const {
  const bool has_names = tree_ && (tree_->size() > 2 || (tree_->size() == 2 && tree_->pathOf({1}) != kImportsOwner));
  if (!has_names)
    return;
  conclusion.result.sections.push_back(owners(conclusion.start_ns));
  if (Section section = steps(); !section.rows.empty())
    conclusion.result.sections.push_back(std::move(section));
}

} // namespace

MSL_REGISTER_ANALYZER(owners, OwnersAnalyzer)

} // namespace msleaks::analysis::inline analyzers
