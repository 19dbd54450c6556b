#include "analysis/live/live_saver.h"

#include <algorithm>
#include <utility>

namespace msleaks::analysis::inline live {

namespace {

bool areDifferent(std::vector<SharedObjects::Holder> holders) {
  const auto key = [](const SharedObjects::Holder &holder) { return std::pair(holder.process, holder.address); };
  std::sort(holders.begin(), holders.end(), [&](const auto &a, const auto &b) { return key(a) < key(b); });
  return std::adjacent_find(holders.begin(), holders.end()) == holders.end();
}

} // namespace

bool LiveSet::load(uint64_t time_ns, std::span<const uint8_t> saved, const SiteOfNumber &site_of) {
  ByteReader from(saved);
  clear();
  if (Loader(*this, time_ns, from).load(site_of)) {
    use_sources_.forgetAll(); // a checkpoint does not contain which uses were seen
    return true;
  }
  clear();
  return false;
}

void LiveSet::clear() {
  processes_.clear();
  last_process_ = nullptr;
  live_blocks_ = 0;
  cohorts_ = {};
  contexts_.clear();
  timeline_ = {};
  has_forwards_ = false;
  last_id_ = 0;
  free_ids_.clear();
  parents_.clear();
  *shared_ = {};
  pauses_ = {};
  use_sources_ = {};
  counts_ = {};
}

bool LiveSet::Loader::load(const SiteOfNumber &site_of) {
  const uint64_t version = from_.varint();
  if (version < kOldestCheckpoint || version > kCheckpointVersion)
    return false;
  live_.has_forwards_ = version == kCheckpointVersion;
  live_.counts_ = take<LiveSetCounts>();
  repeat([&] {
    auto epoch = take<abi::EpochEvent>();
    epoch.header.kind = abi::EventKind::Epoch;
    live_.pauses_.apply(epoch);
  });
  loadLabels();
  loadSites(site_of);
  loadCohorts();
  repeat([&] { loadProcess(); });
  loadObjects();
  loadContexts();
  loadTimeline();
  return !from_.failed() && from_.left() == 0;
}

uint32_t LiveSet::Loader::takeNumber() {
  uint32_t number = 0;
  get_(number);
  return number;
}

void LiveSet::Loader::loadLabels() {
  repeat([&] { labels_.push_back(live_.contexts_.labelNamed(from_.text())); });
}

void LiveSet::Loader::loadSites(const SiteOfNumber &site_of) {
  repeat([&] {
    const uint32_t process = takeNumber();
    sites_.push_back(site_of({process, takeNumber()}));
  });
}

LabelId LiveSet::Loader::takeLabel() {
  const uint32_t number = takeNumber();
  expect(number < labels_.size());
  return from_.failed() ? LabelId{} : labels_[number];
}

SiteId LiveSet::Loader::takeSite() {
  const uint32_t number = takeNumber();
  expect(number < sites_.size());
  return from_.failed() ? SiteId{} : sites_[number];
}

void LiveSet::Loader::loadCohorts() {
  repeat([&] {
    Cohort cohort;
    cohort.site = takeSite();
    get_(cohort.process);
    get_(cohort.stream);
    get_.choice(cohort.heap, abi::Heap::Count);
    get_(cohort.device);
    cohort.owner = takeLabel();
    cohort.phase = takeLabel();
    if (live_.has_forwards_)
      cohort.forward = takeSite();
    if (from_.failed())
      return;
    cohorts_.push_back(live_.cohorts_.of(cohort));
  });
}

void LiveSet::Loader::loadProcess() {
  const uint32_t number = takeNumber();
  expect(!live_.processes_.contains(number));
  if (from_.failed())
    return;
  Process &process = live_.processOf(number);
  loadBlocks(process);
  loadMappings(process);
  repeat([&] {
    const uint32_t stream = takeNumber();
    const auto shared = take<abi::SharedEvent>();
    expect(shared.object != 0 && shared.size != 0 && shared.offset <= UINT64_MAX - shared.size);
    process.shown[stream] = shared;
  });
  loadParked(process);
  loadRanges(process);
  loadSkew(process.replaced);
  loadSkew(process.early);
  if (!from_.failed())
    noteParents(process);
}

std::optional<Block> LiveSet::Loader::loadBlock(const Process &process, uint64_t &last_address) {
  Block block;
  block.address = last_address += unzigzag(from_.varint());
  block.size = from_.varint();
  block.time_ns = time_ns_ - unzigzag(from_.varint());
  const uint32_t cohort = takeNumber();
  const uint64_t rest = from_.varint();
  expect(block.address != 0 && cohort != 0 && cohort < cohorts_.size() && rest >> 3 != 0 && rest >> 3 <= kMostOwners);
  if (from_.failed())
    return std::nullopt;
  block.cohort = cohorts_[cohort];
  const Cohort &known = live_.cohorts_[block.cohort];
  expect(known.process == process.number);
  block.process = known.process;
  block.site = known.site;
  block.stream = known.stream == kOtherThreads ? takeNumber() : known.stream;
  block.heap = known.heap;
  block.device = known.device;
  block.refs = std::min<uint64_t>(rest >> 3, kMostOwners) & kMostOwners;
  block.handle = rest >> 2 & 1;
  block.file = rest >> 1 & 1;
  block.reserve = rest & 1;
  return from_.failed() ? std::nullopt : std::optional(block);
}

void LiveSet::Loader::loadBlocks(Process &process) {
  uint64_t last_address = 0;
  repeat([&] {
    auto block = loadBlock(process, last_address);
    if (!block)
      return;
    BlockTable &table = process.tableOf(*block);
    expect(spaceOf(block->heap) != AddressSpace::Mapping && !table.find(block->address));
    if (from_.failed())
      return;
    block->id = live_.takeId();
    table.insert(*block);
    if (Backings::concerns(*block))
      process.backings.comes(*block);
    ++live_.live_blocks_;
  });
}

std::optional<LiveSet::Mapping> LiveSet::Loader::loadMapping(const Process &process, uint64_t &last_address) {
  const auto block = loadBlock(process, last_address);
  if (!block)
    return std::nullopt;
  Mapping mapping{*block};
  mapping.object = take<ObjectKey>();
  mapping.offset = from_.varint();
  expect(block->address <= kLastMapping || spaceOf(block->heap) != AddressSpace::Mapping);
  expect(!mapping.object.known() || mapping.offset <= UINT64_MAX - block->size);
  return from_.failed() ? std::nullopt : std::optional(mapping);
}

void LiveSet::Loader::loadMappings(Process &process) {
  uint64_t last_address = 0, end = 0;
  repeat([&] {
    auto mapping = loadMapping(process, last_address);
    if (!mapping)
      return;
    expect(spaceOf(mapping->block.heap) == AddressSpace::Mapping && mapping->block.address >= end &&
           !process.mappings.contains(mapping->block.address));
    if (from_.failed())
      return;
    end = mapping->end();
    mapping->block.id = live_.takeId();
    shown_mappings_ += mapping->object.known();
    process.mappings.emplace_hint(process.mappings.end(), mapping->block.address, *mapping);
    ++live_.live_blocks_;
  });
}

void LiveSet::Loader::loadParked(Process &process) {
  repeat([&] {
    const uint64_t key = from_.varint();
    Parked parked{};
    get_(parked.address);
    get_(parked.was_owner);
    uint64_t last_address = 0;
    const auto first = loadMapping(process, last_address);
    if (!first)
      return;
    parked.first = *first;
    repeat([&] {
      const auto piece = loadMapping(process, last_address);
      expect(piece && spaceOf(piece->block.heap) == AddressSpace::Mapping);
      if (piece)
        parked.more.push_back(*piece);
    });
    process.parked[key] = std::move(parked);
  });
}

void LiveSet::Loader::loadRanges(Process &process) {
  uint64_t end = 0;
  repeat([&] {
    const auto range = take<DeviceRange>();
    expect(range.address >= end && range.address != 0 && range.size != 0 && range.owners != 0 &&
           process.blockOf(range));
    end = range.end();
    process.ranges.add(range);
  });
  repeat([&] {
    std::vector<HiddenRange> &hidden = process.hidden[takeNumber()];
    repeat([&] {
      HiddenRange gone{take<DeviceRange>(), false, {}};
      uint64_t last_address = 0;
      get_(gone.was_last);
      const auto block = loadBlock(process, last_address);
      expect(gone.range.address != 0 && gone.range.size != 0 && block &&
             spaceOf(block->heap) == AddressSpace::Accelerator && gone.range.shows(*block));
      if (from_.failed())
        return;
      gone.block = *block;
      hidden.push_back(gone);
    });
  });
}

void LiveSet::Loader::loadSkew(SkewWindow &window) {
  repeat([&] { expect(window.restore(take<SkewWindow::Entry>())); });
}

void LiveSet::Loader::noteParents(Process &process) {
  std::vector<Block> parts;
  process.tables[static_cast<size_t>(AddressSpace::Pool)].forEach([&](const Block &part) { parts.push_back(part); });
  for (const Block &part : parts)
    live_.noteParent(process, part);
}

// Each mapping of a shared object shows exactly one piece. No other block may be a holder of a piece.
void LiveSet::Loader::loadObjects() {
  repeat([&] {
    const auto key = take<ObjectKey>();
    expect(key.known() && !live_.shared_->objects().contains(key));
    if (!from_.failed())
      loadPieces(key);
  });
  expect(shown_mappings_ == 0);
}

void LiveSet::Loader::loadPieces(const ObjectKey &key) {
  SharedObjects::Pieces pieces;
  uint64_t last_end = 0;
  repeat([&] {
    const uint64_t begin = from_.varint(), end = from_.varint();
    expect(begin >= last_end && end > begin);
    last_end = end;
    SharedObjects::Piece piece{end, {}};
    repeat([&] {
      piece.holders.push_back(take<SharedObjects::Holder>());
      expect(isHolder(piece.holders.back(), key, begin, end) && shown_mappings_ != 0);
      --shown_mappings_;
    });
    expect(!piece.holders.empty() && piece.holders.size() <= SharedObjects::kMostHolders &&
           areDifferent(piece.holders));
    pieces.emplace(begin, std::move(piece));
  });
  expect(!pieces.empty());
  (*live_.shared_)[key] = std::move(pieces);
}

bool LiveSet::Loader::isHolder(const SharedObjects::Holder &holder, const ObjectKey &key, uint64_t begin,
                               uint64_t end) {
  const auto process = live_.processes_.find(holder.process);
  if (process == live_.processes_.end())
    return false;
  const auto found = process->second->mappings.find(holder.address);
  return found != process->second->mappings.end() && found->second.object == key && found->second.offset == begin &&
         found->second.block.size == end - begin;
}

void LiveSet::Loader::loadContexts() {
  repeat([&] {
    const uint64_t key = from_.varint();
    Contexts::Thread thread;
    repeat([&] { thread.owners.push_back(takeLabel()); });
    repeat([&] {
      const LabelId label = takeLabel();
      thread.ranges.push_back({label, from_.varint()});
    });
    if (live_.has_forwards_)
      thread.now.forward = takeSite();
    live_.contexts_.restore(key, std::move(thread));
  });
}

void LiveSet::Loader::loadTimeline() {
  uint64_t time_ns = 0;
  repeat([&] {
    Timeline::Step step{time_ns += from_.varint(), from_.varint(), 0};
    get_(step.process);
    live_.timeline_.addStep(step);
  });
  time_ns = 0;
  repeat([&] {
    Timeline::Mark mark{time_ns += from_.varint(), takeLabel(), 0};
    get_(mark.process);
    live_.timeline_.addMark(mark);
  });
}

} // namespace msleaks::analysis::inline live
