// Watch: finds operations that changed a watched block without getting it as an argument (docs/watch.md).
#include "analysis/analyzers/registry.h"
#include "analysis/live/device_ranges.h"
#include "analysis/places/labels.h"
#include "analysis/result/finding_kinds.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <unordered_map>

namespace msleaks::analysis::inline analyzers {
namespace {

using abi::EventKind;

constexpr size_t kMostChanges = 1000;
constexpr size_t kMostRanges = 64; // nested ranges of a thread

// Memory that an operation may write. A handle stands for its whole block, and its number is no address. If `bytes` is
// 0, the memory is the rest of the address's block.
struct WritableMemory {
  uint64_t address, bytes;
  bool is_handle;

  bool mayBe(const WritableMemory &other) const {
    if (address == other.address)
      return true;
    return !is_handle && !other.is_handle && address < other.address + other.bytes && address + bytes > other.address;
  }
};
using WrittenMemory = std::vector<WritableMemory>;

// The memory that the last launch, copy or fill of a thread may write.
struct Operation {
  bool is_known = false; // whether `written` is complete
  WrittenMemory written;

  bool mayWrite(const WritableMemory &watched) const {
    return std::any_of(written.begin(), written.end(),
                       [&](const WritableMemory &memory) { return memory.mayBe(watched); });
  }
};

// An open range of a thread, which ends as the innermost one. Accesses that are reported just after its start are for
// all launches in it.
struct OpenRange {
  WrittenMemory written;
  bool begins = true; // only accesses have come so far
};

struct BlockChange {
  uint64_t address, offset, bytes, block_bytes, time_ns;
  LabelId name, operation;
  SiteId site;
  abi::Heap heap;
  uint32_t process;
  std::optional<uint64_t> step;
  Given given;
  uint64_t digest, file;
};

struct Watched {
  LabelId name;
  uint64_t bytes = 0, looks = 0, changes = 0, given = 0;
  uint64_t contents = 0, files = 0, refused = 0; // contents that were reported: a digest each, and maybe a file
  uint64_t digest = 0, file = 0;                 // of the last content
  abi::Heap heap = abi::Heap::Host;
  bool is_watched = false;
  std::optional<uint64_t> filled_until; // watched since birth: number of the process' operations at that time
};

class WatchAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "watch"; }
  void useCohorts(const Cohorts &, SiteCatalog &catalog) override { labels_ = &catalog.labels(); }
  uint32_t eventKinds() const override {
    return abi::enabledBit(EventKind::Watch) | abi::enabledBit(EventKind::Changed) |
           abi::enabledBit(EventKind::Content) | abi::enabledBit(EventKind::Launch) | abi::enabledBit(EventKind::Copy) |
           abi::enabledBit(EventKind::Set) | abi::enabledBit(EventKind::Access) | abi::enabledBit(EventKind::Step) |
           abi::enabledBit(EventKind::RangeBegin) | abi::enabledBit(EventKind::RangeEnd) |
           abi::enabledBit(EventKind::Mapped);
  }
  void onAlloc(const Block &block, AllocCause, uint64_t) override {
    if (!wholes_.empty()) [[unlikely]]
      wholes_.erase({block.process, block.address});
    if (block.handle) [[unlikely]]
      handles_.insert({block.process, block.address});
  }
  void onFree(const Block &block, FreeCause, uint64_t) override {
    if (block.handle) [[unlikely]]
      handles_.erase({block.process, block.address});
  }
  void onEvent(const StreamEvent &, SiteId) override;
  void conclude(Conclusion &) const override;

private:
  using Key = std::pair<uint32_t, uint64_t>; // process, address
  Operation &of(const StreamEvent &event) { return operations_[keyOfThread(event.process, event.stream)]; }
  // Whether no operation has begun since the block was allocated: then its owner fills the block.
  bool isFilled(const Watched &watched, uint32_t process) const {
    const auto begun = begun_.find(process);
    return watched.filled_until == (begun != begun_.end() ? begun->second : 0);
  }
  OpenRange *innermost(const StreamEvent &event) {
    const auto at = ranges_.find(keyOfThread(event.process, event.stream));
    return at != ranges_.end() && !at->second.empty() ? &at->second.back() : nullptr;
  }
  void onRange(const StreamEvent &);
  void onOperation(const StreamEvent &);
  void onWatch(const StreamEvent &);
  void onChanged(const StreamEvent &, SiteId);
  void onContent(const StreamEvent &);
  void onAccess(const StreamEvent &);
  void onMapped(const StreamEvent &);
  // The block that a handle shows, or else the address itself.
  uint64_t wholeOf(const StreamEvent &event, uint64_t address) const {
    const auto found = wholes_.find({event.process, address});
    return found != wholes_.end() ? found->second : address;
  }
  WritableMemory memoryAt(const StreamEvent &event, uint64_t address, uint64_t bytes) const {
    const uint64_t whole = wholeOf(event, address);
    return {whole, bytes, handles_.contains({event.process, whole})};
  }
  void addWritten(const StreamEvent &, const WritableMemory &);
  LabelId labelOf(const StreamEvent &event, uint64_t number) const {
    return labels_ ? labels_->find(event.process, number) : LabelId{};
  }
  std::string textOf(LabelId label) const { return labels_ ? std::string(labels_->textOf(label)) : std::string(); }
  std::string nameOf(LabelId label, uint64_t address) const;
  WatchLine lineOf(const BlockChange &, Conclusion &) const;
  void addFinding(const BlockChange &, Conclusion &) const;
  Section blocks(Conclusion &) const;

  const Labels *labels_ = nullptr;
  std::unordered_map<uint64_t, Operation> operations_; // by thread
  std::unordered_map<uint64_t, std::vector<OpenRange>> ranges_;
  std::map<Key, Watched> watched_;
  std::map<Key, uint64_t> wholes_;     // blocks that other handles show
  std::set<Key> handles_;              // handles of live blocks
  std::map<uint32_t, uint64_t> steps_; // the last step of each process
  std::map<uint32_t, uint64_t> begun_; // operations of each process, counted while something is watched
  std::set<uint32_t> unknown_;         // processes in which a launch may use memory that no event names
  std::vector<BlockChange> changes_;   // by operations that did not get the block
};

void WatchAnalyzer::onEvent(const StreamEvent &event, SiteId site) {
  switch (event.event.header().kind) {
  case EventKind::Watch:
    return onWatch(event);
  case EventKind::Changed:
    return onChanged(event, site);
  case EventKind::Content:
    return onContent(event);
  case EventKind::Step:
    steps_[event.process] = event.event.as<abi::StepEvent>().number;
    return;
  case EventKind::Access:
    return onAccess(event);
  case EventKind::Mapped:
    return onMapped(event);
  default:
    break;
  }
  if (watched_.empty())
    return;
  if (event.event.header().kind == EventKind::RangeBegin || event.event.header().kind == EventKind::RangeEnd)
    onRange(event);
  else
    onOperation(event);
}

// Operations before a range do not belong to it: the runtime looked at the blocks at its start. A range that ends by a
// number says nothing about the operations in it. Of ranges that never end, keeps the innermost.
void WatchAnalyzer::onRange(const StreamEvent &event) {
  std::vector<OpenRange> &ranges = ranges_[keyOfThread(event.process, event.stream)];
  if (event.event.header().kind == EventKind::RangeEnd) {
    if (event.event.as<abi::RangeEndEvent>().id == 0 && !ranges.empty())
      ranges.pop_back();
    return;
  }
  of(event) = {};
  if (event.event.as<abi::RangeBeginEvent>().id != 0)
    return;
  ++begun_[event.process];
  if (ranges.size() == kMostRanges)
    ranges.erase(ranges.begin());
  ranges.emplace_back();
}

void WatchAnalyzer::onOperation(const StreamEvent &event) {
  const abi::EventHeader &header = event.event.header();
  if (header.kind == EventKind::Copy && header.heap == abi::Heap::Host) // the runtime does not look at blocks then
    return;
  Operation &operation = of(event);
  OpenRange *range = innermost(event);
  operation = {};
  ++begun_[event.process];
  if (range)
    range->begins = false;
  if (event.event.header().kind == EventKind::Launch) {
    operation.is_known = (event.event.header().flags & abi::kListed) != 0;
    if (range)
      operation.written = range->written;
  } else if (event.event.header().kind == EventKind::Copy) {
    const auto copy = event.event.as<abi::CopyEvent>();
    operation = {true, {memoryAt(event, copy.destination, copy.size)}};
  } else {
    const auto set = event.event.as<abi::SetEvent>();
    operation = {true, {memoryAt(event, set.destination, set.size)}};
  }
}

// An access comes after the event of its launch or operator. A call that has no event may also report accesses.
void WatchAnalyzer::onAccess(const StreamEvent &event) {
  const auto access = event.event.as<abi::AccessEvent>();
  const bool reads_only = (access.header.flags & abi::kRead) != 0 && (access.header.flags & abi::kWrite) == 0;
  const bool is_argument = (access.header.flags & abi::kListed) != 0;
  if (access.address == 0 && is_argument)
    of(event).is_known = true; // the launch of this thread
  else if (access.address == 0)
    unknown_.insert(event.process);
  else if (!watched_.empty() && !reads_only)
    addWritten(event, memoryAt(event, access.address, access.size));
}

// A handle of a part of a buffer means the whole buffer.
void WatchAnalyzer::onMapped(const StreamEvent &event) {
  const auto mapped = event.event.as<abi::MappedEvent>();
  if (mapped.size == kHandleBytes && mapped.block != 0)
    wholes_[{event.process, mapped.address}] = wholeOf(event, mapped.block);
}

void WatchAnalyzer::addWritten(const StreamEvent &event, const WritableMemory &memory) {
  of(event).written.push_back(memory);
  if (OpenRange *range = innermost(event); range && range->begins)
    range->written.push_back(memory);
}

void WatchAnalyzer::onWatch(const StreamEvent &event) {
  const auto watch = event.event.as<abi::WatchEvent>();
  Watched &watched = watched_[{event.process, watch.address}];
  watched.is_watched = watch.size != 0;
  watched.heap = watch.header.heap;
  watched.looks += watch.looks;
  if (watch.size == 0)
    return;
  watched.name = labelOf(event, watch.name);
  watched.bytes = watch.size;
  watched.filled_until.reset();
  if (watch.from_birth != 0)
    watched.filled_until = begun_[event.process];
}

void WatchAnalyzer::onContent(const StreamEvent &event) {
  const auto content = event.event.as<abi::ContentEvent>();
  const auto at = watched_.find({event.process, content.address});
  if (at == watched_.end())
    return;
  Watched &watched = at->second;
  const bool is_refused = content.file == abi::kRefusedFile;
  watched.digest = content.digest;
  watched.file = is_refused ? 0 : content.file;
  ++watched.contents;
  watched.files += watched.file != 0 ? 1 : 0;
  watched.refused += is_refused ? 1 : 0;
}

void WatchAnalyzer::onChanged(const StreamEvent &event, SiteId site) {
  const auto changed = event.event.as<abi::ChangedEvent>();
  const auto at = watched_.find({event.process, changed.address});
  if (at == watched_.end() || !at->second.is_watched)
    return;
  Watched &watched = at->second;
  ++watched.changes;
  const Operation &operation = of(event);
  if (isFilled(watched, event.process) || operation.mayWrite(memoryAt(event, changed.address, watched.bytes))) {
    ++watched.given;
    return;
  }
  const bool is_known = operation.is_known && !unknown_.contains(event.process);
  const auto step = steps_.find(event.process);
  if (changes_.size() < kMostChanges)
    changes_.push_back({changed.address, changed.offset, changed.size, watched.bytes, changed.header.time,
                        labelOf(event, changed.name), labelOf(event, changed.operation), site, changed.header.heap,
                        event.process, step != steps_.end() ? std::optional(step->second) : std::nullopt,
                        is_known ? Given::No : Given::Unknown, watched.digest, watched.file});
}

std::string WatchAnalyzer::nameOf(LabelId label, uint64_t address) const {
  return label.known() ? textOf(label) : fmt::format("{:#x}", address);
}

WatchLine WatchAnalyzer::lineOf(const BlockChange &change, Conclusion &conclusion) const {
  WatchLine line;
  line.name = nameOf(change.name, change.address);
  if (change.operation.known())
    line.operation = textOf(change.operation);
  line.site = analysis::textOf(conclusion.catalog, conclusion.lines.places().of(change.site));
  line.address = change.address;
  line.offset = change.offset;
  line.bytes = change.bytes;
  line.step = change.step;
  line.time_ns = change.time_ns;
  line.process = change.process;
  line.given = change.given;
  line.digest = change.digest;
  line.file = change.file;
  return line;
}

void WatchAnalyzer::addFinding(const BlockChange &change, Conclusion &conclusion) const {
  const Place place = conclusion.lines.places().of(change.site);
  auto draft = conclusion.lines.lineOf<Finding>({place, {{change.site, change.bytes, 1}}}, Lines::Paths::Shown);
  Finding &finding = draft.line;
  setKind(finding, finding_kinds::kTrampled);
  finding.part = nameOf(change.name, change.address);
  finding.confidence = change.given == Given::No ? Confidence::Likely : Confidence::Hint;
  finding.heap = change.heap;
  finding.owner = finding.site.library;
  finding.evidence = {{"block", finding.part},
                      {"operation", change.operation.known() ? textOf(change.operation) : std::string()},
                      {"offset", change.offset},
                      {"bytes", change.bytes},
                      {"block_bytes", change.block_bytes},
                      {"given", analysis::nameOf(change.given)}};
  if (change.step)
    finding.evidence.emplace_back("step", *change.step);
  const std::string by = change.operation.known() ? "`" + textOf(change.operation) + "`" : "the operation";
  finding.advice =
      change.given == Given::No
          ? fmt::format("`{}` is no argument of {}: look for an index or a size in {} that is too large", finding.part,
                        by, by)
          : fmt::format("The arguments of {} are not known: if `{}` is not among them, an index or a size is too large",
                        by, finding.part);
  finding.advice += change.heap == abi::Heap::Host ? "; `msleaks verify` names the instruction." : ".";
  conclusion.add(std::move(draft), {});
}

Section WatchAnalyzer::blocks(Conclusion &conclusion) const {
  Section section{.name = "watched",
                  .title = "Watched blocks",
                  .columns = {{"block", Unit::Text, Fold::Key},
                              {"bytes", Unit::Bytes},
                              {"changes", Unit::Count},
                              {"by_others", Unit::Count},
                              {"process", Unit::Text},
                              {"digests", Unit::Count},
                              {"files", Unit::Count},
                              {"refused", Unit::Count}},
                  .rows = {}};
  for (const auto &[key, watched] : watched_)
    section.rows.push_back({nameOf(watched.name, key.second), watched.bytes, watched.changes,
                            watched.changes - watched.given, conclusion.names.process(key.first), watched.contents,
                            watched.files, watched.refused});
  return section;
}

// The first change of each block is a finding. Later changes may be its consequences.
void WatchAnalyzer::conclude(Conclusion &conclusion) const {
  if (watched_.empty())
    return;
  conclusion.result.sections.push_back(blocks(conclusion));
  std::set<Key> told;
  for (const BlockChange &change : changes_) {
    conclusion.result.watch.push_back(lineOf(change, conclusion));
    if (told.insert({change.process, change.address}).second && change.site != SiteId{})
      addFinding(change, conclusion);
  }
}

} // namespace

MSL_REGISTER_ANALYZER(watch, WatchAnalyzer)

} // namespace msleaks::analysis::inline analyzers
