#include "analysis/live/live_saver.h"

#include <algorithm>
#include <utility>

namespace msleaks::analysis::inline live {

bool LiveSet::save(uint64_t time_ns, const NumbersOfSites &numbers, ByteWriter &to) const {
  return Saver(*this, time_ns).save(numbers, to);
}

namespace {

template <class Map> auto sortedKeys(const Map &map) {
  std::vector<typename Map::key_type> keys;
  for (const auto &[key, value] : map)
    keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

} // namespace

bool LiveSet::Saver::save(const NumbersOfSites &numbers, ByteWriter &to) {
  put_(live_.processes_.size());
  for (const uint32_t number : sortedKeys(live_.processes_))
    saveProcess(*live_.processes_.at(number));
  saveObjects();
  saveContexts();
  saveTimeline();
  const ByteWriter cohorts = this->cohorts();
  const std::vector<SiteNumber> sites = numbers(sites_.list());
  if (sites.size() != sites_.list().size())
    return false;

  SavedFieldWriter put(to);
  put(live_.has_forwards_ ? kCheckpointVersion : has_other_threads_ ? kSharedCohorts : kOldestCheckpoint);
  visitFields(put, live_.counts_);
  put(live_.pauses_.epochs().size());
  for (const abi::EpochEvent &epoch : live_.pauses_.epochs())
    visitFields(put, epoch);
  put(labels_.list().size());
  for (const LabelId label : labels_.list())
    to.text(live_.contexts_.textOf(label));
  put(sites.size());
  for (const SiteNumber &site : sites) {
    put(site.process);
    put(site.number);
  }
  to.bytes(cohorts.written());
  to.bytes(body_.written());
  return true;
}

ByteWriter LiveSet::Saver::cohorts() {
  ByteWriter to;
  SavedFieldWriter put(to);
  put(cohorts_.list().size());
  for (const CohortId id : cohorts_.list()) {
    const Cohort &cohort = live_.cohorts_[id];
    put(sites_.numberOf(cohort.site));
    put(cohort.process);
    put(cohort.stream);
    put(cohort.heap);
    put(cohort.device);
    put(labels_.numberOf(cohort.owner));
    put(labels_.numberOf(cohort.phase));
    if (live_.has_forwards_)
      put(sites_.numberOf(cohort.forward));
  }
  return to;
}

void LiveSet::Saver::saveProcess(const Process &process) {
  put_(process.number);
  saveBlocks(process);
  saveMappings(process);
  put_(process.shown.size());
  for (const uint32_t stream : process.shown.keys()) {
    put_(stream);
    visitFields(put_, *process.shown.find(stream));
  }
  saveParked(process);
  saveRanges(process);
  saveSkew(process.replaced);
  saveSkew(process.early);
}

// Blocks come by address, so that the differences are small. Only pieces of a mapping may go back.
void LiveSet::Saver::saveBlock(const Block &block, uint64_t &last_address) {
  put_(zigzag(block.address - std::exchange(last_address, block.address)));
  put_(block.size);
  put_(zigzag(time_ns_ - block.time_ns));
  put_(cohorts_.numberOf(block.cohort));
  put_(uint64_t{block.refs} << 3 | uint64_t{block.handle} << 2 | uint64_t{block.file} << 1 | block.reserve);
  if (live_.cohorts_[block.cohort].stream != kOtherThreads)
    return;
  put_(block.stream);
  has_other_threads_ = true;
}

void LiveSet::Saver::saveBlocks(const Process &process) {
  std::vector<std::pair<uint64_t, const Block *>> blocks;
  const auto add = [&](const Block &block) { blocks.emplace_back(block.address, &block); };
  for (const BlockTable &table : process.tables)
    table.forEach(add);
  for (const auto &[device, table] : process.devices)
    table.forEach(add);
  // Few blocks have equal addresses, so most comparisons need not read the blocks.
  std::sort(blocks.begin(), blocks.end(), [](const auto &a, const auto &b) {
    return a.first != b.first
               ? a.first < b.first
               : std::pair(a.second->heap, a.second->device) < std::pair(b.second->heap, b.second->device);
  });
  put_(blocks.size());
  uint64_t last_address = 0;
  for (const auto &[address, block] : blocks)
    saveBlock(*block, last_address);
}

void LiveSet::Saver::saveMapping(const Mapping &mapping, uint64_t &last_address) {
  saveBlock(mapping.block, last_address);
  visitFields(put_, mapping.object);
  put_(mapping.offset);
}

void LiveSet::Saver::saveMappings(const Process &process) {
  put_(process.mappings.size());
  uint64_t last_address = 0;
  for (const auto &[address, mapping] : process.mappings)
    saveMapping(mapping, last_address);
}

void LiveSet::Saver::saveParked(const Process &process) {
  put_(process.parked.size());
  for (const uint64_t key : process.parked.keys()) {
    const Parked &parked = *process.parked.find(key);
    put_(key);
    put_(parked.address);
    put_(parked.was_owner);
    uint64_t last_address = 0;
    saveMapping(parked.first, last_address);
    put_(parked.more.size());
    for (const Mapping &mapping : parked.more)
      saveMapping(mapping, last_address);
  }
}

void LiveSet::Saver::saveRanges(const Process &process) {
  uint64_t count = 0;
  process.ranges.forEach([&](const DeviceRange &) { ++count; });
  put_(count);
  process.ranges.forEach([&](const DeviceRange &range) { visitFields(put_, range); });
  put_(process.hidden.size());
  for (const uint32_t stream : process.hidden.keys()) {
    const std::vector<HiddenRange> &ranges = *process.hidden.find(stream);
    put_(stream);
    put_(ranges.size());
    for (const HiddenRange &hidden : ranges) {
      uint64_t last_address = 0;
      visitFields(put_, hidden.range);
      put_(hidden.was_last);
      saveBlock(hidden.block, last_address);
    }
  }
}

void LiveSet::Saver::saveSkew(const SkewWindow &window) {
  put_(window.entries().size());
  for (const SkewWindow::Entry &entry : window.entries())
    visitFields(put_, entry);
}

void LiveSet::Saver::saveObjects() {
  const auto &objects = live_.shared_->objects();
  put_(objects.size());
  for (const auto &[key, pieces] : objects) {
    visitFields(put_, key);
    put_(pieces.size());
    for (const auto &[begin, piece] : pieces) {
      put_(begin);
      put_(piece.end);
      put_(piece.holders.size());
      for (const SharedObjects::Holder &holder : piece.holders)
        visitFields(put_, holder);
    }
  }
}

void LiveSet::Saver::saveContexts() {
  const auto &threads = live_.contexts_.threads();
  put_(threads.size());
  for (const uint64_t key : threads.keys()) {
    const Contexts::Thread &thread = *threads.find(key);
    put_(key);
    put_(thread.owners.size());
    for (const LabelId owner : thread.owners)
      put_(labels_.numberOf(owner));
    put_(thread.ranges.size());
    for (const Contexts::Range &range : thread.ranges) {
      put_(labels_.numberOf(range.label));
      put_(range.id);
    }
    if (live_.has_forwards_)
      put_(sites_.numberOf(thread.now.forward));
  }
}

void LiveSet::Saver::saveTimeline() {
  uint64_t last_ns = 0;
  put_(live_.timeline_.steps().size());
  for (const Timeline::Step &step : live_.timeline_.steps()) {
    put_(step.time_ns - std::exchange(last_ns, step.time_ns));
    put_(step.number);
    put_(step.process);
  }
  last_ns = 0;
  put_(live_.timeline_.marks().size());
  for (const Timeline::Mark &mark : live_.timeline_.marks()) {
    put_(mark.time_ns - std::exchange(last_ns, mark.time_ns));
    put_(labels_.numberOf(mark.label));
    put_(mark.process);
  }
}

} // namespace msleaks::analysis::inline live
