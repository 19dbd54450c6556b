#include "analysis/counts/perf_samples.h"

#include "analysis/counts/address_space.h"
#include "analysis/counts/perf_records.h"
#include "analysis/trace/bytes.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <utility>

namespace msleaks::analysis::profiles {
namespace {

constexpr uint16_t kModeMask = 7, kKernelMode = 1, kHypervisorMode = 3;
constexpr uint16_t kExecuted = 1 << 13; // flag of a Command record
constexpr uint16_t kDataMap = 1 << 13;  // flag of a Map record
constexpr uint16_t kHasBuildId = 1 << 14;
constexpr uint32_t kExecutable = 4; // PROT_EXEC
constexpr uint32_t kKernelPid = UINT32_MAX;
constexpr uint64_t kMostCopied = 10'000'000;

struct Sample {
  uint64_t time, address, period;
  uint32_t pid, event;
};

// A change of the images that a process has mapped.
struct Change {
  enum class Kind : uint8_t { Map, Execute, Fork } kind;
  uint64_t time;
  uint32_t pid, parent = 0;
  MappedImage mapped{};
};

// Returns the number of fields after the time, at the end of a record that is no sample.
unsigned fieldsBehindTime(uint64_t fields) {
  return ((fields & kPerfId) != 0) + ((fields & kPerfStreamId) != 0) + ((fields & kPerfCpu) != 0) +
         ((fields & kPerfIdentifier) != 0);
}

class Replay {
public:
  explicit Replay(const PerfFile &perf) : perf_(perf), fields_(perf.events.front().fields) {
    result_.totals.resize(perf.events.size());
    imageOf("", {}, false);
  }

  // Returns false if the record makes no sense.
  bool onRecord(const PerfRecordHeader &, const uint8_t *body, size_t size);
  PerfSamples finish() {
    settle(UINT64_MAX);
    return std::move(result_);
  }
  // Whether processes copied too many images. A few bytes of a file can make many processes with many images each.
  bool tooLarge() const { return copied_ > kMostCopied; }

private:
  bool onSample(uint16_t misc, const uint8_t *body, size_t size);
  bool onMap(const PerfRecordHeader &, const uint8_t *body, size_t size);
  bool onFork(const uint8_t *body, size_t size);
  uint64_t timeOf(const uint8_t *body, size_t size);
  void settle(uint64_t before_ns);
  void apply(const Change &);
  void count(const Sample &);
  uint32_t imageOf(const std::string &path, std::vector<std::byte> build_id, bool kernel);

  const PerfFile &perf_;
  const uint64_t fields_; // the sample_type of the first event
  std::vector<Sample> samples_;
  bool sorted_ = true; // whether samples_ is sorted by time
  std::vector<Change> changes_;
  uint64_t latest_ = 0, settled_ = 0; // the latest time so far, and the latest time at the last round's end
  std::unordered_map<uint32_t, std::shared_ptr<AddressSpace>> spaces_; // by process; a child shares its parent's
  std::map<std::pair<std::string, std::vector<std::byte>>, uint32_t> images_;
  const MappedImage *last_ = nullptr; // the image that the last sample met; null after a change
  uint32_t last_pid_ = 0;
  uint64_t copied_ = 0; // number of images that were copied from a shared address space
  PerfSamples result_;
};

uint32_t Replay::imageOf(const std::string &path, std::vector<std::byte> build_id, bool kernel) {
  if (build_id.empty())
    if (const auto known = perf_.build_ids.find(path); known != perf_.build_ids.end())
      build_id = known->second;
  const auto [image, fresh] = images_.try_emplace({path, build_id}, static_cast<uint32_t>(result_.images.size()));
  if (fresh) {
    result_.images.push_back({path, std::move(build_id), kernel, PlaceSums(perf_.events.size())});
  }
  return image->second;
}

bool Replay::onSample(uint16_t misc, const uint8_t *body, size_t size) {
  ByteReader reader({body, size});
  Sample sample{0, 0, 0, 0, 0};
  uint64_t id = 0;
  uint64_t fields = fields_;
  if ((fields & kPerfIdentifier) != 0) {
    id = reader.fixed<uint64_t>();
    if (const auto event = perf_.event_of_id.find(id); event != perf_.event_of_id.end())
      fields = perf_.events[event->second].fields;
  }
  sample.address = reader.fixed<uint64_t>();
  if ((fields & kPerfTid) != 0) {
    sample.pid = reader.fixed<uint32_t>();
    reader.fixed<uint32_t>();
  }
  if ((fields & kPerfTime) != 0)
    sample.time = reader.fixed<uint64_t>();
  if ((fields & kPerfAddress) != 0)
    reader.fixed<uint64_t>();
  if ((fields & kPerfId) != 0)
    id = reader.fixed<uint64_t>();
  for (const uint64_t field : {kPerfStreamId, kPerfCpu})
    if ((fields & field) != 0)
      reader.fixed<uint64_t>();
  const bool has_period = (fields & kPerfPeriod) != 0;
  if (has_period)
    sample.period = reader.fixed<uint64_t>();
  if (reader.failed())
    return false;
  ++result_.samples;
  if (perf_.events.size() > 1) {
    const auto event = perf_.event_of_id.find(id);
    if (event == perf_.event_of_id.end())
      return ++result_.unknown_events, true;
    sample.event = event->second;
  }
  if (!has_period)
    sample.period = std::max<uint64_t>(perf_.events[sample.event].period, 1);
  if ((misc & kModeMask) == kKernelMode || (misc & kModeMask) == kHypervisorMode)
    sample.pid = kKernelPid;
  latest_ = std::max(latest_, sample.time);
  sorted_ &= samples_.empty() || samples_.back().time <= sample.time;
  samples_.push_back(sample);
  return true;
}

// Returns the time of a record that is no sample. If these records have no time, returns 0, which is before all
// samples.
uint64_t Replay::timeOf(const uint8_t *body, size_t size) {
  const size_t tail = (fieldsBehindTime(fields_) + 1) * sizeof(uint64_t);
  if ((fields_ & kPerfTime) == 0 || !perf_.events.front().ids_everywhere || size < tail)
    return 0;
  uint64_t time = 0;
  std::memcpy(&time, body + size - tail, sizeof time);
  latest_ = std::max(latest_, time);
  return time;
}

bool Replay::onMap(const PerfRecordHeader &header, const uint8_t *body, size_t size) {
  constexpr size_t kDeviceBytes = 24, kLongestId = 20;
  ByteReader reader({body, size});
  const auto pid = reader.fixed<uint32_t>();
  reader.fixed<uint32_t>();
  const auto begin = reader.fixed<uint64_t>(), length = reader.fixed<uint64_t>(), offset = reader.fixed<uint64_t>();
  std::vector<std::byte> build_id;
  bool executable = (header.misc & kDataMap) == 0;
  if (header.kind == PerfRecordKind::MapWithDevice) {
    const auto device = reader.bytes(kDeviceBytes); // a device or a build id: length, 3 unused bytes, the id
    executable = (reader.fixed<uint32_t>() & kExecutable) != 0;
    reader.fixed<uint32_t>(); // mmap's flags
    if ((header.misc & kHasBuildId) != 0 && !reader.failed()) {
      const auto *id = reinterpret_cast<const std::byte *>(device.data()) + 4;
      build_id.assign(id, id + std::min<size_t>(device[0], kLongestId));
    }
  }
  if (reader.failed() || reader.left() == 0)
    return false;
  if (!executable)
    return true;
  const auto *text = reinterpret_cast<const char *>(body + size - reader.left());
  const std::string path(text, strnlen(text, reader.left()));
  const bool kernel = pid == kKernelPid;
  const uint64_t end = length > UINT64_MAX - begin ? UINT64_MAX : begin + length;
  changes_.push_back({Change::Kind::Map,
                      timeOf(body, size),
                      pid,
                      0,
                      {begin, end, kernel ? begin : offset, imageOf(path, std::move(build_id), kernel)}});
  return true;
}

bool Replay::onFork(const uint8_t *body, size_t size) {
  ByteReader reader({body, size});
  const auto pid = reader.fixed<uint32_t>(), parent = reader.fixed<uint32_t>();
  if (reader.failed())
    return false;
  if (pid != parent) // The record of a new thread has equal pids.
    changes_.push_back({Change::Kind::Fork, timeOf(body, size), pid, parent});
  return true;
}

bool Replay::onRecord(const PerfRecordHeader &header, const uint8_t *body, size_t size) {
  switch (header.kind) {
  case PerfRecordKind::Sample:
    return onSample(header.misc, body, size);
  case PerfRecordKind::Map:
  case PerfRecordKind::MapWithDevice:
    return onMap(header, body, size);
  case PerfRecordKind::Fork:
    return onFork(body, size);
  case PerfRecordKind::Command:
    if ((header.misc & kExecuted) != 0 && size >= sizeof(uint32_t)) {
      uint32_t pid = 0;
      std::memcpy(&pid, body, sizeof pid);
      changes_.push_back({Change::Kind::Execute, timeOf(body, size), pid});
    }
    return true;
  case PerfRecordKind::Lost:
  case PerfRecordKind::LostSamples: {
    ByteReader reader({body, size});
    if (header.kind == PerfRecordKind::Lost)
      reader.fixed<uint64_t>(); // id of the event
    result_.lost += reader.fixed<uint64_t>();
    return !reader.failed();
  }
  case PerfRecordKind::FinishedRound:
    // Records after this one are not older than the latest time of the round before.
    settle(std::exchange(settled_, latest_));
    return true;
  default:
    return true;
  }
}

void Replay::apply(const Change &change) {
  last_ = nullptr;
  if (tooLarge())
    return;
  std::shared_ptr<AddressSpace> &space = spaces_[change.pid];
  if (change.kind == Change::Kind::Fork) {
    if (const auto parent = spaces_.find(change.parent); parent != spaces_.end())
      spaces_[change.pid] = parent->second;
    return;
  }
  if (!space || change.kind == Change::Kind::Execute)
    space = std::make_shared<AddressSpace>();
  else if (space.use_count() > 1) {
    copied_ += space->size();
    space = std::make_shared<AddressSpace>(*space);
  }
  if (change.kind == Change::Kind::Map)
    space->map(change.mapped);
}

void Replay::count(const Sample &sample) {
  result_.totals[sample.event] += sample.period;
  if (!last_ || sample.pid != last_pid_ || sample.address < last_->begin || sample.address >= last_->end) {
    const auto space = spaces_.find(sample.pid);
    last_ = space != spaces_.end() && space->second ? space->second->at(sample.address) : nullptr;
    last_pid_ = sample.pid;
  }
  const MappedImage *mapped = last_;
  const uint64_t at = mapped ? mapped->offset + (sample.address - mapped->begin) : sample.address;
  result_.images[mapped ? mapped->image : 0].sums.add(at, sample.event, sample.period);
}

// Applies all changes and counts all samples up to this time. A change comes before samples of the same time.
void Replay::settle(uint64_t before_ns) {
  const auto by_time = [](const auto &left, const auto &right) { return left.time < right.time; };
  std::stable_sort(changes_.begin(), changes_.end(), by_time);
  if (!std::exchange(sorted_, true))
    std::stable_sort(samples_.begin(), samples_.end(), by_time);
  size_t change = 0, sample = 0;
  for (; sample < samples_.size() && samples_[sample].time <= before_ns; ++sample) {
    for (; change < changes_.size() && changes_[change].time <= samples_[sample].time; ++change)
      apply(changes_[change]);
    count(samples_[sample]);
  }
  for (; change < changes_.size() && changes_[change].time <= before_ns; ++change)
    apply(changes_[change]);
  samples_.erase(samples_.begin(), samples_.begin() + static_cast<ptrdiff_t>(sample));
  changes_.erase(changes_.begin(), changes_.begin() + static_cast<ptrdiff_t>(change));
}

} // namespace

Result<PerfSamples> readPerfSamples(const InputFile &file, const PerfFile &perf) {
  Replay replay(perf);
  MSL_TRY(forEachPerfRecord(file, perf.data_begin, perf.data_end, PackedRecords::Unpack,
                            [&](const PerfRecordHeader &header, std::span<const uint8_t> body) {
                              return replay.onRecord(header, body.data(), body.size());
                            }));
  PerfSamples samples = replay.finish();
  if (replay.tooLarge())
    return fail(fmt::format("its processes have more than {} images together", kMostCopied));
  return samples;
}

} // namespace msleaks::analysis::profiles
