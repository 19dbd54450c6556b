// Unshared: memory that processes shared after a fork, and that was copied since (docs/analyses.md).
#include "analysis/analyzers/majority_cohort.h"
#include "analysis/analyzers/registry.h"
#include "analysis/base/text.h"
#include "analysis/findings/advice.h"
#include "analysis/findings/keeper.h"
#include "analysis/trace/copied_pages.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline analyzers {
namespace {

// Less memory, or a smaller part of the parent's resident memory, does not matter.
constexpr uint64_t kLeastCopied = 64 << 20, kLeastCopiedOneIn = 10;
constexpr size_t kMostCopiedCohorts = 64, kMostNamed = 8;

struct CopiedFrame {
  uint64_t end = 0, bytes = 0;
  MajorityCohort most; // among the parent's blocks; 0 bytes: not known
  bool is_known = false;
};

struct ForkedChild {
  uint32_t parent = 0;
  uint64_t first_ns = 0; // the first look that found something
  uint64_t bytes = 0;
  std::map<uint64_t, CopiedFrame> frames; // by address
  std::map<CohortId, uint64_t> cohorts;   // the copied bytes in frames with these blocks

  void add(const CopiedFrame &frame, uint64_t bytes_more) {
    if (frame.most.bytes != 0)
      cohorts[frame.most.cohort] += bytes_more; // wraps if the number falls
  }
};

// The moment when the children of a process had copied the most.
struct MostCopied {
  uint64_t bytes = 0, time_ns = 0;
  std::vector<std::pair<uint32_t, uint64_t>> children; // bytes by process
  std::vector<CohortShare> cohorts;
};

class UnsharedAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "unshared"; }
  bool wants(abi::Heap) const override { return false; }
  void useLiveBlocks(const BlocksByProcess &blocks) override { blocks_ = &blocks; }
  uint32_t eventKinds() const override { return abi::enabledBit(abi::EventKind::Pages); }
  void onEvent(const StreamEvent &event, SiteId) override {
    if (const auto pages = event.event.as<abi::PagesEvent>(); (pages.at_exit & kPagesCopied) != 0)
      onFrame(event.process, pages);
  }
  void onProcessEnd(uint32_t process, const ProcessFate &) override { children_.erase(process); }
  void conclude(Conclusion &) const override;

private:
  void onFrame(uint32_t process, const abi::PagesEvent &);
  void findBlocks(ForkedChild &) const;
  void noteMost(uint32_t parent, uint64_t time_ns);
  void addFinding(uint32_t parent, const MostCopied &, Conclusion &) const;
  Section byProcess(const Conclusion &) const;

  const BlocksByProcess *blocks_ = nullptr;
  std::map<uint32_t, ForkedChild> children_; // that run
  std::map<uint32_t, MostCopied> most_;      // by parent
  std::map<uint32_t, uint64_t> copied_;      // the most bytes of each child
};

void UnsharedAnalyzer::onFrame(uint32_t process, const abi::PagesEvent &pages) {
  if (pages.address + pages.size < pages.address || pages.touched > pages.size)
    return; // damaged
  ForkedChild &child = children_[process];
  child.parent = static_cast<uint32_t>(pages.at_exit >> kCopiedParentBit);
  if (child.first_ns == 0)
    child.first_ns = pages.header.time;
  CopiedFrame &frame = child.frames[pages.address];
  frame.end = pages.address + pages.size;
  const uint64_t more = pages.touched - frame.bytes;
  child.bytes += more;
  child.add(frame, more);
  frame.bytes = pages.touched;
  if (pages.allocated_ns != 0)
    return; // more frames follow
  uint64_t &most = copied_[process];
  most = std::max(most, child.bytes);
  findBlocks(child);
  noteMost(child.parent, pages.header.time);
}

// Finds the parent's blocks in frames that are new. A block that is younger than the first look was not inherited.
void UnsharedAnalyzer::findBlocks(ForkedChild &child) const {
  const auto is_new = [](const auto &frame) { return !frame.second.is_known; };
  if (std::ranges::none_of(child.frames, is_new))
    return;
  blocks_->forEachOf(child.parent, [&](const Block &block) {
    if (block.reserve || block.time_ns > child.first_ns ||
        (block.heap != abi::Heap::Host && block.heap != abi::Heap::Mapping))
      return;
    const uint64_t block_end = block.address + block.size;
    auto at = child.frames.upper_bound(block.address);
    if (at != child.frames.begin())
      --at;
    for (; at != child.frames.end() && at->first < block_end; ++at)
      if (CopiedFrame &frame = at->second; !frame.is_known && frame.end > block.address)
        frame.most.add(block.cohort, std::min(frame.end, block_end) - std::max(at->first, block.address));
  });
  for (auto &[address, frame] : child.frames)
    if (!std::exchange(frame.is_known, true))
      child.add(frame, frame.bytes);
}

void UnsharedAnalyzer::noteMost(uint32_t parent, uint64_t time_ns) {
  uint64_t bytes = 0;
  for (const auto &[process, child] : children_)
    bytes += child.parent == parent ? child.bytes : 0;
  MostCopied &most = most_[parent];
  if (bytes <= most.bytes)
    return;
  most = {};
  most.bytes = bytes;
  most.time_ns = time_ns;
  std::map<CohortId, uint64_t> cohorts;
  for (const auto &[process, child] : children_) {
    if (child.parent != parent || child.bytes == 0)
      continue;
    most.children.emplace_back(process, child.bytes);
    for (const auto &[cohort, copied] : child.cohorts)
      cohorts[cohort] += copied;
  }
  for (const auto &[cohort, copied] : cohorts)
    most.cohorts.push_back({cohort, copied, 1});
  std::ranges::stable_sort(most.cohorts, std::greater(), &CohortShare::bytes);
  most.cohorts.resize(std::min(most.cohorts.size(), kMostCopiedCohorts));
}

std::string adviceFor(const Finding &finding) {
  if (finding.site.origin != SiteOrigin::Python)
    return fmt::format("Write to the memory of {} before the fork and not after it, or put it into memory that the "
                       "processes share (MAP_SHARED).",
                       functionIn(finding.site));
  return fmt::format(
      "Each process that only reads a Python object writes its reference count, and the kernel copies "
      "the page. Keep what {}:{} makes in one numpy array, tensor or pyarrow table instead of many Python "
      "objects. Else call gc.freeze() before the fork, or use fewer workers.",
      baseName(finding.site.file), finding.site.line);
}

// "155.1 MiB of pid 4712 (python3)", the most bytes first.
std::vector<std::string> workersIn(const MostCopied &most, const Conclusion &conclusion) {
  auto children = most.children;
  std::ranges::stable_sort(children, std::greater(), [](const auto &child) { return child.second; });
  children.resize(std::min(children.size(), kMostNamed));
  std::vector<std::string> names;
  for (const auto &[process, bytes] : children)
    names.push_back(fmt::format("{} of {}", bytesText(bytes), conclusion.names.process(process)));
  return names;
}

// "310.2 MiB of data.py:12", the most bytes first.
std::vector<std::string> placesIn(const MostCopied &most, Conclusion &conclusion) {
  auto groups = conclusion.lines.byPlace(bySite(most.cohorts, conclusion.cohorts));
  std::ranges::stable_sort(groups, std::greater(), [](const PlaceGroup &group) { return group.sum().bytes; });
  groups.resize(std::min(groups.size(), kMostNamed));
  std::vector<std::string> places;
  for (const PlaceGroup &group : groups)
    places.push_back(
        fmt::format("{} of {}", bytesText(group.sum().bytes), lineOf(textOf(conclusion.catalog, group.place))));
  return places;
}

// None if the processes ran for less than a second.
std::optional<uint64_t> bytesPerSecond(const MostCopied &most, const Conclusion &conclusion) {
  constexpr uint64_t kSecondNs = 1'000'000'000;
  uint64_t begin_ns = most.time_ns;
  for (const auto &[process, bytes] : most.children)
    begin_ns = std::min(begin_ns, conclusion.resident.beginOf(process).value_or(begin_ns));
  const uint64_t ns = most.time_ns - begin_ns;
  if (ns < kSecondNs)
    return std::nullopt;
  return static_cast<uint64_t>(static_cast<double>(most.bytes) * kSecondNs / static_cast<double>(ns));
}

void UnsharedAnalyzer::addFinding(uint32_t parent, const MostCopied &most, Conclusion &conclusion) const {
  const auto sample = conclusion.resident.near(parent, most.time_ns);
  const uint64_t resident = sample ? sample->resident_bytes : 0;
  const auto at = most.bytes < std::max(kLeastCopied, resident / kLeastCopiedOneIn)
                      ? std::nullopt
                      : keeperOfMost(most.cohorts, conclusion);
  if (!at)
    return;
  auto draft = draftOf(finding_kinds::kUnshared, at->first, at->second.place, at->second.cohorts, conclusion);
  Finding &finding = draft.line;
  finding.bytes = most.bytes;
  finding.count = most.children.size();
  finding.evidence = {{"parent", conclusion.names.process(parent)},
                      {"parent_resident_bytes", resident},
                      {"processes", workersIn(most, conclusion)},
                      {"places", placesIn(most, conclusion)},
                      {"place_bytes", at->second.bytes}};
  if (const auto rate = bytesPerSecond(most, conclusion))
    finding.evidence.emplace_back("copied_bytes_per_s", *rate);
  finding.advice = adviceFor(finding);
  conclusion.add(std::move(draft), {});
}

Section UnsharedAnalyzer::byProcess(const Conclusion &conclusion) const {
  Section section{.name = "sharing",
                  .title = "Memory that processes share, by process",
                  .columns = {{"process", Unit::Text, Fold::Key},
                              {"pss", Unit::Bytes},
                              {"private", Unit::Bytes},
                              {"shared", Unit::Bytes, Fold::Largest},
                              {"copied", Unit::Bytes}},
                  .rows = {},
                  .compares = true};
  for (const ReportProcess &process : conclusion.processes) {
    const auto copied = copied_.find(process.process);
    if (process.pss_bytes && process.private_bytes && process.shared_bytes)
      section.rows.push_back({conclusion.names.process(process.process), *process.pss_bytes, *process.private_bytes,
                              *process.shared_bytes, copied == copied_.end() ? Cell() : Cell(copied->second)});
  }
  std::ranges::stable_sort(section.rows, std::greater(), [](const auto &row) { return std::get<uint64_t>(row[1]); });
  return section;
}

void UnsharedAnalyzer::conclude(Conclusion &conclusion) const {
  if (Section section = byProcess(conclusion); !section.rows.empty())
    conclusion.result.sections.push_back(std::move(section));
  if (conclusion.question.policy != Policy::Effect)
    return;
  for (const auto &[parent, most] : most_)
    addFinding(parent, most, conclusion);
}

} // namespace

MSL_REGISTER_ANALYZER(unshared, UnsharedAnalyzer)

} // namespace msleaks::analysis::inline analyzers
