// Host copies: host blocks with the same content as another host block, while both are alive (docs/analyses.md).
#include "msleaks/abi/host_copies.h"
#include "analysis/analyzers/registry.h"
#include "analysis/base/text.h"
#include "analysis/findings/advice.h"
#include "analysis/findings/keeper.h"
#include "analysis/places/place.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace msleaks::analysis::inline analyzers {
namespace {

constexpr uint64_t kLeftOutOneIn = 10; // a copy may leave out one part in ten
// Keeps at most this many freed copies, to compute their cost at the end.
constexpr size_t kMostHostCopies = 100'000;
constexpr size_t kMostPartsOfABlock = 64;

using BlockKey = std::pair<uint32_t, uint64_t>; // process, address

// A part of a live block that was copied into another block. Copies that continue each other in the source are joined.
struct CopiedPart {
  BlockKey source;
  uint64_t bytes = 0;
  uint64_t source_begin = 0, source_end = 0; // offsets in the source
  uint64_t begin = 0, end = 0;               // addresses in the destination
  uint64_t from_ns = 0;                      // from here on, the destination was not needed
  SiteId site;
  uint32_t stream = 0; // the thread that made the copy
};

// A live block that may be the source or the destination of a copy.
struct LargeBlock {
  Block block;
  uint64_t number = 0;           // counts large blocks in the order of their births
  std::vector<CopiedPart> parts; // parts that were copied from other blocks
  std::vector<BlockKey> copies;  // blocks that contain copied parts of this block
  bool is_filled = false;        // something was copied into it
  bool is_buffer = false;        // its content was replaced after it had been copied
};

// A copy that was alive at the same time as its source.
struct BesideSource {
  CohortId cohort;
  uint64_t bytes, from_ns, to_ns;
  SiteId site, source_site;
};

class HostCopiesAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "host_copies"; }
  bool wants(abi::Heap heap) const override { return heap == abi::Heap::Host || heap == abi::Heap::Mapping; }
  uint32_t eventKinds() const override { return abi::enabledBit(abi::EventKind::Copy); }
  void onAlloc(const Block &block, AllocCause, uint64_t) override {
    if (block.bytes() >= abi::kLeastHostCopyBytes) [[unlikely]]
      blocks_[{block.process, block.address}] = {block, ++births_, {}, {}, false, false};
  }
  void onFree(const Block &block, FreeCause, uint64_t time_ns) override {
    if (block.bytes() >= abi::kLeastHostCopyBytes) [[unlikely]]
      end({block.process, block.address}, time_ns);
  }
  void onRetarget(const Block &block, const Block &, uint64_t) override {
    if (const auto found = blocks_.find({block.process, block.address}); found != blocks_.end())
      found->second.block = block;
  }
  void onEvent(const StreamEvent &event, SiteId site) override {
    if (event.event.header().heap == abi::Heap::Host)
      onCopy(event, event.event.as<abi::CopyEvent>(), site);
  }
  void conclude(Conclusion &) const override;

private:
  LargeBlock *holding(uint32_t process, uint64_t address);
  void onCopy(const StreamEvent &, const abi::CopyEvent &, SiteId);
  bool wasCopied(const LargeBlock &source, uint64_t begin, uint64_t end, uint32_t stream) const;
  void replaceContent(LargeBlock &, uint64_t begin, uint64_t end);
  void forgetCopiesOf(LargeBlock &);
  void end(const BlockKey &, uint64_t time_ns);
  void endPart(const LargeBlock &destination, const CopiedPart &, uint64_t time_ns, bool is_end_of_source);
  bool isGrowth(const LargeBlock &source, const LargeBlock &destination) const;

  std::map<BlockKey, LargeBlock> blocks_;
  uint64_t births_ = 0; // number of large blocks so far
  std::vector<BesideSource> beside_;
};

LargeBlock *HostCopiesAnalyzer::holding(uint32_t process, uint64_t address) {
  auto next = blocks_.upper_bound({process, address});
  if (next == blocks_.begin())
    return nullptr;
  LargeBlock &before = (--next)->second;
  const bool holds = next->first.first == process && address - before.block.address < before.block.size;
  return holds ? &before : nullptr;
}

// The block gets other content from `begin` to `end`. It is no longer a source, and has no copied parts there.
void HostCopiesAnalyzer::replaceContent(LargeBlock &block, uint64_t begin, uint64_t end) {
  if (!block.copies.empty()) {
    forgetCopiesOf(block);
    block.is_buffer = true;
  }
  std::erase_if(block.parts, [&](const CopiedPart &part) { return part.begin < end && begin < part.end; });
}

void HostCopiesAnalyzer::forgetCopiesOf(LargeBlock &source) {
  const BlockKey key{source.block.process, source.block.address};
  for (const BlockKey &copy : source.copies)
    if (const auto found = blocks_.find(copy); found != blocks_.end())
      std::erase_if(found->second.parts, [&](const CopiedPart &part) { return part.source == key; });
  source.copies.clear();
}

// Whether the thread has copied from this part of the source before.
bool HostCopiesAnalyzer::wasCopied(const LargeBlock &source, uint64_t begin, uint64_t end, uint32_t stream) const {
  const BlockKey key{source.block.process, source.block.address};
  const auto overlaps = [&](const CopiedPart &part) {
    return part.source == key && part.stream == stream && part.source_begin < end && begin < part.source_end;
  };
  return std::any_of(source.copies.begin(), source.copies.end(), [&](const BlockKey &copy) {
    const auto found = blocks_.find(copy);
    return found != blocks_.end() && std::any_of(found->second.parts.begin(), found->second.parts.end(), overlaps);
  });
}

void HostCopiesAnalyzer::onCopy(const StreamEvent &event, const abi::CopyEvent &copy, SiteId site) {
  LargeBlock *destination = holding(event.process, copy.destination), *source = holding(event.process, copy.source);
  if (!destination)
    return;
  replaceContent(*destination, copy.destination, copy.destination + copy.size);
  const bool is_first = !std::exchange(destination->is_filled, true);
  if (!source || source == destination || source->is_buffer)
    return;
  const BlockKey key{event.process, source->block.address}, copy_key{event.process, destination->block.address};
  const uint64_t begin = copy.source - source->block.address, end = begin + copy.size;
  if (wasCopied(*source, begin, end, event.stream)) { // so the source was filled again in between
    forgetCopiesOf(*source);
    source->is_buffer = true;
    return;
  }
  const auto continued =
      std::find_if(destination->parts.begin(), destination->parts.end(), [&](const CopiedPart &part) {
        return part.source == key && part.source_end == begin && part.end <= copy.destination;
      });
  if (continued != destination->parts.end()) {
    continued->bytes += copy.size;
    continued->source_end = end;
    continued->end = copy.destination + copy.size;
    return;
  }
  if (destination->parts.size() >= kMostPartsOfABlock || source->copies.size() >= kMostPartsOfABlock)
    return;
  const uint64_t birth_ns = std::max(destination->block.time_ns, source->block.time_ns);
  destination->parts.push_back({key, copy.size, begin, end, copy.destination, copy.destination + copy.size,
                                is_first ? birth_ns : copy.header.time, site, event.stream});
  if (std::find(source->copies.begin(), source->copies.end(), copy_key) == source->copies.end())
    source->copies.push_back(copy_key);
}

// Whether the destination replaces the source, as in a growing container. It must be larger. No other large block may
// have been allocated between the copy and the free of the source.
bool HostCopiesAnalyzer::isGrowth(const LargeBlock &source, const LargeBlock &destination) const {
  return destination.number == births_ && destination.number > source.number &&
         destination.block.size - std::min(destination.block.size, source.block.size) >
             source.block.size / kLeftOutOneIn;
}

void HostCopiesAnalyzer::endPart(const LargeBlock &destination, const CopiedPart &part, uint64_t time_ns,
                                 bool is_end_of_source) {
  const auto found = blocks_.find(part.source);
  if (found == blocks_.end())
    return;
  const LargeBlock &source = found->second;
  const auto isMostOf = [&](uint64_t bytes) { return part.bytes >= bytes - bytes / kLeftOutOneIn; };
  const bool is_copy = isMostOf(source.block.size) || isMostOf(destination.block.size);
  if (!is_copy || time_ns <= part.from_ns || beside_.size() >= kMostHostCopies ||
      (is_end_of_source && isGrowth(source, destination)))
    return;
  beside_.push_back({destination.block.cohort, std::min(part.bytes, destination.block.size), part.from_ns, time_ns,
                     part.site, source.block.site});
}

void HostCopiesAnalyzer::end(const BlockKey &key, uint64_t time_ns) {
  const auto found = blocks_.find(key);
  if (found == blocks_.end())
    return;
  LargeBlock &block = found->second;
  for (const CopiedPart &part : block.parts) {
    endPart(block, part, time_ns, false);
    if (const auto source = blocks_.find(part.source); source != blocks_.end())
      std::erase(source->second.copies, key);
  }
  for (const BlockKey &copy : block.copies)
    if (const auto destination = blocks_.find(copy); destination != blocks_.end())
      for (const CopiedPart &part : destination->second.parts)
        if (part.source == key)
          endPart(destination->second, part, time_ns, true);
  forgetCopiesOf(block);
  blocks_.erase(found);
}

// Finds copies by which a container moves its elements to a smaller block, in order to free the rest.
class Shrinking {
public:
  bool is(SiteId copy, SiteCatalog &catalog) {
    const auto [known, fresh] = known_.try_emplace(copy);
    if (fresh)
      known->second = find(copy, catalog);
    return known->second;
  }

private:
  static bool isNamedSo(std::string_view function) { return function.find("shrink_to_fit") != std::string_view::npos; }
  static bool isIn(const Site &call) {
    return isNamedSo(call.function) || std::any_of(call.inlined_at.begin(), call.inlined_at.end(),
                                                   [](const InlineFrame &frame) { return isNamedSo(frame.function); });
  }
  static bool find(SiteId copy, SiteCatalog &catalog) {
    constexpr int kMostCalls = 24; // without optimisation, the library makes many calls inside
    uint32_t node = catalog.innermostNodeOf(copy);
    if (!SiteCatalog::isNode(node))
      return isIn(catalog.describe(copy));
    for (int calls = 0; SiteCatalog::isNode(node) && calls < kMostCalls; ++calls) {
      const SiteCatalog::PathNode at = catalog.pathNode(node);
      if (isIn(catalog.describe(at.call)))
        return true;
      node = at.outer;
    }
    return false;
  }

  std::map<SiteId, bool> known_;
};

struct CopiesOfKeeper : KeptBlocks {
  const BesideSource *largest = nullptr;
};

// The line in the user's own code. The lines inside the C++ library would add nothing.
std::string placeLineOf(SiteId site, Conclusion &conclusion) {
  SiteText text = textOf(conclusion.catalog, conclusion.lines.places().of(site));
  if (text.file.empty() && text.library.empty())
    return "an unknown place";
  text.file = baseName(text.file);
  return lineOf(text);
}

Draft<Finding> findingOf(const Keeper &keeper, const CopiesOfKeeper &copies, Conclusion &conclusion) {
  auto draft = draftOf(finding_kinds::kCopy, keeper, copies.place, copies.cohorts, conclusion);
  Finding &finding = draft.line;
  const BesideSource &largest = *copies.largest;
  finding.confidence = Confidence::Hint;
  finding.byte_seconds = byteSecondsOf(copies.byte_ns);
  finding.evidence = {{"idle_ns", copies.longest_ns}};
  const std::string copied_at = placeLineOf(largest.site, conclusion),
                    copied_from = placeLineOf(largest.source_site, conclusion);
  finding.evidence.emplace_back("copied_at", copied_at);
  finding.evidence.emplace_back("copied_from", copied_from);
  finding.advice = fmt::format("Use the block of {} instead of {}, or free it after the copy at {}.", copied_from,
                               finding.count == 1 ? "this copy" : "these copies", copied_at);
  return draft;
}

void HostCopiesAnalyzer::conclude(Conclusion &conclusion) const {
  if (conclusion.question.policy != Policy::Effect)
    return;
  std::map<Keeper, CopiesOfKeeper> by_keeper;
  Shrinking shrinking;
  for (const BesideSource &beside : beside_) {
    if (shrinking.is(beside.site, conclusion.catalog))
      continue;
    CopiesOfKeeper *copies = ownBlocksOf(beside.cohort, by_keeper, conclusion);
    if (!copies)
      continue;
    copies->add(beside.cohort, beside.bytes, beside.from_ns, beside.to_ns);
    if (!copies->largest || beside.bytes > copies->largest->bytes)
      copies->largest = &beside;
  }
  addFindings(by_keeper, conclusion, [&](const Keeper &keeper, const CopiesOfKeeper &copies) {
    return findingOf(keeper, copies, conclusion);
  });
}

} // namespace

MSL_REGISTER_ANALYZER(host_copies, HostCopiesAnalyzer)

} // namespace msleaks::analysis::inline analyzers
