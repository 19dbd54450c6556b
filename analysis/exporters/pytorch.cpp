// pytorch: a memory snapshot as torch.cuda.memory._dump_snapshot() writes it, for PyTorch's _memory_viz.py and
// https://pytorch.org/memory_viz (docs/formats.md).
#include "analysis/analyzers/tensor_kind.h"
#include "analysis/base/session_time.h"
#include "analysis/exporters/registry.h"
#include "analysis/exporters/snapshot_segments.h"
#include "analysis/exporters/trace_names.h"
#include "analysis/result/writer.h"

#include <array>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

namespace msleaks::analysis::inline exporters {
namespace {

// By TensorKind: the categories of torch.profiler.
constexpr std::array<Word, static_cast<size_t>(TensorKind::Count)> kCategories = {
    Word::parameter,  Word::gradient,   Word::optimizer_state, Word::activation,
    Word::activation, Word::activation, Word::temporary,       Word::input};

// A list of events in the snapshot. PyTorch has one for each device. This exporter has more: one for the host memory of
// each process, and one for pools that are in no device's memory.
struct LaneKey {
  enum Kind : uint8_t { Device, Host, Pools };
  Kind kind = Host;
  uint8_t device = 0;
  uint32_t process = 0;
  auto operator<=>(const LaneKey &) const = default;
};

// A live block that the snapshot shows.
struct ShownBlock {
  Lane *lane = nullptr; // null: not shown
  uint64_t address = 0;
  uint32_t frames = 0, alloc = 0; // numbers in the pickle; 0 = none
  bool is_segment = false, is_block = false;
  TensorBirth birth;
};

// While events are written, the reader's stack has the snapshot, a key, and the dict of all lists of events. A list is
// fetched by its number, gets events, and is stored under its own name again. So events of all lists may alternate, and
// none of them is kept in memory.
class PytorchExporter final : public BlockExporter {
public:
  uint32_t eventKinds() const override { return abi::enabledBit(abi::EventKind::AllocFailed); }
  void begin(ReadRun &) override;
  void onAlloc(ReadRun &, const Block &, BlockNumber, AllocCause, uint64_t time_ns) override;
  void onFree(ReadRun &, const Block &, BlockNumber, FreeCause, uint64_t time_ns) override;
  void onEvent(ReadRun &, const StreamEvent &, SiteId) override;
  void end(ReadRun &) override;

private:
  static constexpr size_t kFlushBytes = 64 << 10;
  static constexpr uint8_t kNoDevice = UINT8_MAX; // a call that fails may name no device
  // Addresses for blocks whose address is a handle, or is taken. JavaScript is exact below 2^53.
  static constexpr uint64_t kFirstHandle = uint64_t{1} << 50, kPage = 4096;

  LaneKey keyOf(const Block &) const;
  Lane &laneOf(const LaneKey &);
  std::string nameOf(const LaneKey &) const;
  // Whether another block that the snapshot shows may have the same address.
  bool isTracked(const Block &block, const ShownBlock &shown) const {
    return shown.is_block && (block.heap != abi::Heap::Host || with_drivers_.contains(block.process));
  }
  uint64_t addressOf(const Block &, const ShownBlock &);
  void noteTensor(const Block &, ShownBlock &, uint64_t time_ns);
  Word categoryOf(const Block &, const ShownBlock &);
  template <class F> void addTo(const Lane &lane, F &&events);
  void beginEvent(Word action, uint64_t address, uint64_t bytes, uint64_t time_ns);
  void addSegmentAlloc(ReadRun &, const Block &, ShownBlock &, uint64_t time_ns);
  void addAlloc(ReadRun &, const Block &, ShownBlock &, uint64_t time_ns);
  void addFree(const Block &, const ShownBlock &, uint64_t time_ns);
  std::vector<Lane *> lanesInOrder();
  void addFacts(const Report &, const std::vector<Lane *> &);
  void flush() {
    out() << values_.pickle.code();
    values_.pickle.code().clear();
  }

  SnapshotValues values_;
  std::optional<TraceNames> names_;
  std::optional<TensorOrigins> origins_;
  bool one_process_ = true, has_tensors_ = false;
  uint64_t start_ns_ = 0, next_handle_ = kFirstHandle;
  std::unordered_map<uint32_t, analyzers::Progress> progress_; // by process
  std::set<std::pair<uint32_t, uint8_t>> with_pools_;          // processes, and their devices whose memory is in a pool
  std::set<uint32_t> with_drivers_;                            // processes with host memory of a driver
  std::map<LaneKey, Lane> lanes_;                              // elements do not move
  std::vector<ShownBlock> shown_;                              // by the number of the live block
};

void PytorchExporter::begin(ReadRun &run) {
  start_ns_ = run.report.start_ns;
  names_.emplace(run.trace, run.catalog.labels());
  one_process_ = run.trace.processes().size() <= 1;
  origins_.emplace(run.cohorts, run.catalog);
  for (uint32_t index = 1; index < run.cohorts.size(); ++index) {
    const Cohort &cohort = run.cohorts[CohortId{index}];
    has_tensors_ = has_tensors_ || origins_->of({index}) != TensorOrigin::NoTensor;
    if (cohort.heap == abi::Heap::Pool)
      with_pools_.emplace(cohort.process, cohort.device);
    if (cohort.heap == abi::Heap::Pinned || cohort.heap == abi::Heap::Managed)
      with_drivers_.insert(cohort.process);
  }
  values_.pickle.emptyDict();
  values_.pickle.text("msleaks_events");
  values_.pickle.emptyDict();
}

// A pool's block belongs to the device if it is in a block that the device's driver gave.
LaneKey PytorchExporter::keyOf(const Block &block) const {
  const LaneKey device{LaneKey::Device, block.device, block.process};
  if (block.heap == abi::Heap::Device)
    return device;
  if (block.heap != abi::Heap::Pool)
    return {LaneKey::Host, 0, block.process};
  if (const auto lane = lanes_.find(device); lane != lanes_.end()) {
    const std::map<uint64_t, uint64_t> &segments = lane->second.segments;
    const auto after = segments.upper_bound(block.address);
    if (after != segments.begin())
      if (const auto &[begin, bytes] = *std::prev(after); block.address + block.size <= begin + bytes)
        return device;
  }
  return {LaneKey::Pools, 0, block.process};
}

std::string PytorchExporter::nameOf(const LaneKey &key) const {
  std::string name = key.kind == LaneKey::Device ? fmt::format("device {}", key.device)
                     : key.kind == LaneKey::Host ? "host memory"
                                                 : "pools outside of device memory";
  if (!one_process_)
    name += fmt::format(" of process {} (pid {})", key.process, names_->pid(key.process).value_or(0));
  return name;
}

Lane &PytorchExporter::laneOf(const LaneKey &key) {
  const auto [found, is_new] = lanes_.try_emplace(key);
  Lane &lane = found->second;
  if (!is_new)
    return lane;
  lane.name = nameOf(key);
  Pickle &pickle = values_.pickle;
  pickle.text(lane.name);
  pickle.put(lane.name_number = values_.takeNumber());
  pickle.emptyList();
  pickle.put(lane.events_number = values_.takeNumber());
  pickle.setItem();
  if (has_tensors_) // the viewer fails if there are categories, but no event has this one
    addTo(lane, [&] {
      beginEvent(Word::snapshot, 0, 0, start_ns_);
      values_.item(Word::category, Word::unknown);
      values_.itemOf(Word::frames, 0);
      pickle.setItems();
    });
  return lane;
}

// Blocks of two allocators may have one address: a driver may take its memory from malloc, and an allocator from mmap.
// The viewer needs another address for the second block.
uint64_t PytorchExporter::addressOf(const Block &block, const ShownBlock &shown) {
  const bool is_taken = shown.is_block && shown.lane->live.contains(block.address);
  if (block.handle == 0 && !is_taken) {
    if (isTracked(block, shown))
      shown.lane->live.insert(block.address);
    return block.address;
  }
  const uint64_t address = next_handle_;
  next_handle_ += (block.size + kPage - 1) & ~(kPage - 1);
  return address;
}

void PytorchExporter::noteTensor(const Block &block, ShownBlock &shown, uint64_t time_ns) {
  const TensorOrigin origin = origins_->of(block.cohort);
  if (origin == TensorOrigin::NoTensor)
    return;
  analyzers::Progress &progress = progress_[block.process];
  progress.onTensor(origin, time_ns);
  shown.birth = bornNow(origin, progress);
}

// The category of the block if it ended now.
Word PytorchExporter::categoryOf(const Block &block, const ShownBlock &shown) {
  if (shown.birth.origin == TensorOrigin::NoTensor)
    return Word::unknown;
  return kCategories[static_cast<size_t>(kindOf(shown.birth, progress_[block.process]))];
}

// Calls `events` to write events of the lane after each other.
template <class F> void PytorchExporter::addTo(const Lane &lane, F &&events) {
  Pickle &pickle = values_.pickle;
  pickle.get(lane.name_number);
  pickle.get(lane.events_number);
  pickle.mark();
  events();
  pickle.appends();
  pickle.setItem();
  if (pickle.code().size() >= kFlushBytes)
    flush();
}

// The caller adds more items, and then calls setItems().
void PytorchExporter::beginEvent(Word action, uint64_t address, uint64_t bytes, uint64_t time_ns) {
  values_.pickle.emptyDict();
  values_.pickle.mark();
  values_.item(Word::action, action);
  values_.item(Word::addr, address);
  values_.item(Word::size, bytes);
  values_.item(Word::stream, 0);
  values_.item(Word::time_us, sinceStart(time_ns, start_ns_) / 1000);
}

void PytorchExporter::addSegmentAlloc(ReadRun &run, const Block &block, ShownBlock &shown, uint64_t time_ns) {
  shown.lane->segments[shown.address] = block.size;
  addTo(*shown.lane, [&] {
    beginEvent(Word::segment_alloc, shown.address, block.size, time_ns);
    values_.push(Word::frames);
    values_.pushFrames(run.catalog, block.site);
    values_.pickle.setItems();
  });
}

// The category of a tensor is known only when it ends. So its allocation has a number until then.
void PytorchExporter::addAlloc(ReadRun &run, const Block &block, ShownBlock &shown, uint64_t time_ns) {
  if (shown.birth.origin != TensorOrigin::NoTensor)
    shown.alloc = 2 * block.id.index + 1;
  addTo(*shown.lane, [&] {
    beginEvent(Word::alloc, shown.address, block.size, time_ns);
    values_.push(Word::frames);
    shown.frames = values_.pushFrames(run.catalog, block.site);
    values_.push(Word::user_metadata);
    values_.pushMetadata(run, block);
    if (has_tensors_)
      values_.item(Word::category, categoryOf(block, shown));
    values_.pickle.setItems();
    if (shown.alloc != 0)
      values_.pickle.put(shown.alloc);
  });
}

// The viewer wants both events directly after each other.
void PytorchExporter::addFree(const Block &block, const ShownBlock &shown, uint64_t time_ns) {
  beginEvent(Word::free_requested, shown.address, block.size, time_ns);
  if (shown.alloc != 0) {
    values_.itemOf(Word::alloc, shown.alloc);
    values_.item(Word::category, categoryOf(block, shown));
    values_.pickle.setItem();
  }
  values_.pickle.setItems();
  beginEvent(Word::free_completed, shown.address, block.size, time_ns);
  values_.pickle.setItems();
}

void PytorchExporter::onAlloc(ReadRun &run, const Block &block, BlockNumber, AllocCause, uint64_t time_ns) {
  ShownBlock &shown = elementAt(shown_, block.id.index) = {};
  if (block.heap != abi::Heap::Pool && !abi::isPhysical(block.heap))
    return;
  noteTensor(block, shown, time_ns);
  if (block.bytes() == 0)
    return;
  const LaneKey key = keyOf(block);
  shown.lane = &laneOf(key);
  shown.is_segment = block.heap == abi::Heap::Device;
  shown.is_block = !shown.is_segment || !with_pools_.contains({block.process, block.device});
  shown.address = addressOf(block, shown);
  if (key.kind != LaneKey::Device)
    shown.lane->pages.add(shown.address, block.size);
  if (shown.is_segment)
    addSegmentAlloc(run, block, shown, time_ns);
  if (shown.is_block)
    addAlloc(run, block, shown, time_ns);
}

// Blocks that are alive at the end of their process are alive in the snapshot.
void PytorchExporter::onFree(ReadRun &, const Block &block, BlockNumber, FreeCause cause, uint64_t time_ns) {
  const ShownBlock &shown = shown_[block.id.index];
  if (shown.lane == nullptr)
    return;
  if (isEnd(cause)) {
    if (shown.is_block)
      shown.lane->kept.push_back({shown.address, block.size, shown.frames, shown.alloc, categoryOf(block, shown)});
    return;
  }
  if (shown.is_segment)
    shown.lane->segments.erase(shown.address);
  if (isTracked(block, shown))
    shown.lane->live.erase(shown.address);
  addTo(*shown.lane, [&] {
    if (shown.is_block)
      addFree(block, shown, time_ns);
    if (!shown.is_segment)
      return;
    beginEvent(Word::segment_free, shown.address, block.size, time_ns);
    values_.pickle.setItems();
  });
}

// A driver or an allocator refused memory. How much was free is not known, so the field has 0.
void PytorchExporter::onEvent(ReadRun &run, const StreamEvent &event, SiteId site) {
  const auto failed = event.event.as<abi::AllocFailedEvent>();
  const bool is_device = failed.header.heap == abi::Heap::Device || failed.header.heap == abi::Heap::Pool;
  const Lane &lane =
      laneOf(is_device ? LaneKey{LaneKey::Device, static_cast<uint8_t>(failed.header.device), event.process}
                       : LaneKey{LaneKey::Host, 0, event.process});
  addTo(lane, [&] {
    beginEvent(Word::oom, 0, failed.size, failed.header.time);
    values_.item(Word::device_free, 0);
    values_.push(Word::frames);
    values_.pushFrames(run.catalog, site);
    values_.pickle.setItems();
  });
}

// Returns the lanes by their number in the snapshot: device memory of the first process at the device's own number, and
// then all others. Null: no memory has this number.
std::vector<Lane *> PytorchExporter::lanesInOrder() {
  std::vector<Lane *> list, others;
  for (auto &[key, lane] : lanes_)
    if (key.kind == LaneKey::Device && key.device != kNoDevice && elementAt(list, key.device) == nullptr)
      list[key.device] = &lane;
    else
      others.push_back(&lane);
  list.insert(list.end(), others.begin(), others.end());
  return list;
}

// Adds facts of the report that PyTorch's snapshots do not have.
void PytorchExporter::addFacts(const Report &report, const std::vector<Lane *> &lanes) {
  Json devices = Json::array();
  for (const Lane *lane : lanes)
    devices.push_back(lane != nullptr ? Json(lane->name) : Json(nullptr));
  values_.pickle.text("msleaks");
  values_.pickle.json({{"command", report.command},
                       {"duration_ns", report.duration_ns},
                       {"peak_bytes", report.peak.bytes},
                       {"devices", std::move(devices)},
                       {"findings", result::findingsJson(report.findings)}});
  values_.pickle.setItem();
}

void PytorchExporter::end(ReadRun &run) {
  Pickle &pickle = values_.pickle;
  pickle.setItem();
  const std::vector<Lane *> lanes = lanesInOrder();
  pickle.text("device_traces");
  pickle.emptyList();
  for (const Lane *lane : lanes) {
    lane != nullptr ? pickle.get(lane->events_number) : pickle.emptyList();
    pickle.append();
  }
  pickle.setItem();
  pickle.text("segments");
  pickle.emptyList();
  for (size_t device = 0; device < lanes.size(); ++device)
    if (lanes[device] != nullptr)
      SnapshotSegments(values_, device).add(*lanes[device]);
  pickle.setItem();
  addFacts(run.report, lanes);
  pickle.stop();
  flush();
}

} // namespace

MSL_REGISTER_EXPORTER(pytorch, "each block from allocation to free, for PyTorch's memory viewer", PytorchExporter)

} // namespace msleaks::analysis::inline exporters
