// Ledger: the known parts of the memory of the host and of each device (docs/analyses.md).
#include "analysis/analyzers/malloc_chunk.h"
#include "analysis/analyzers/registry.h"
#include "analysis/findings/keeper.h"
#include "analysis/live/at_peak.h"
#include "analysis/live/segments.h"
#include "analysis/result/ledger.h"
#include "msleaks/abi/sampled_block.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

namespace msleaks::analysis::inline analyzers {
namespace {

// The bytes that glibc's malloc takes for a block, and the part of them that is in its heap. A mapping consists of
// whole pages, with a header of 16 bytes.
struct Taken {
  uint64_t all_bytes = 0, heap_bytes = 0;
};
Taken takenBy(const Block &block) {
  constexpr uint64_t kMapped = 128 << 10, kPage = 4096;
  if (block.size >= kMapped && isProbablyMapping(block))
    return {(block.size + 16 + kPage - 1) & ~(kPage - 1), 0};
  const uint64_t chunk = chunkBytesOf(block.size);
  return {chunk, chunk};
}

// Sums over the live blocks of a process.
struct MallocSums {
  uint64_t overhead_bytes = 0; // what malloc adds to the blocks
  uint64_t heap_bytes = 0;     // of the blocks in malloc's heap, with what malloc adds

  void add(const Block &block) {
    const Taken taken = takenBy(block);
    overhead_bytes += taken.all_bytes - block.size;
    heap_bytes += taken.heap_bytes;
  }
  void remove(const Block &block) {
    const Taken taken = takenBy(block);
    overhead_bytes -= taken.all_bytes - block.size;
    heap_bytes -= taken.heap_bytes;
  }
};

// The sums of the segments of one cohort.
struct PoolSum {
  uint64_t segment_bytes = 0, part_bytes = 0;
};
// The ledger of one process: for the host's memory, and for each device.
using Heaps = std::map<std::optional<uint8_t>, LedgerSums>;

// The time when a process ended, and what malloc added to its blocks at that time.
struct EndOf {
  uint64_t time_ns = 0;
  uint64_t malloc_overhead_bytes = 0;
};

// A number of bytes that is sampled from time to time.
class SampledBytes {
public:
  // `peak` is the number of peaks so far. The last of them was at `peak_ns`.
  void sample(uint64_t bytes, uint64_t time_ns, uint64_t peak, uint64_t peak_ns) {
    const bool is_nearer = now_ns_ == 0 || time_ns - peak_ns <= peak_ns - std::min(now_ns_, peak_ns);
    if (peak != sampled_peak_)
      at_peak_ = is_nearer ? bytes : now_;
    sampled_peak_ = peak;
    now_ = bytes;
    now_ns_ = time_ns;
  }
  uint64_t now() const { return now_; }
  uint64_t atPeak(uint64_t peak) const { return peak == sampled_peak_ ? at_peak_ : now_; }

private:
  uint64_t now_ = 0, now_ns_ = 0;
  uint64_t at_peak_ = 0, sampled_peak_ = 0;
};

// The samples of a device: the memory in use as the driver reports it, and as the library that manages the device
// reports it. The latter includes the former, and is sampled after it.
struct DeviceNow {
  uint64_t driver_bytes = 0;
  SampledBytes beside_blocks, beside_driver;
};
// Parts of a process' resident memory, as the collector has seen them.
struct ResidentParts {
  SampledBytes free, image_data; // free: in malloc's heap, outside of the blocks that were alive at that time
  uint64_t heap_so_far = 0;      // of a look that is not complete
};
constexpr uint64_t differenceOf(uint64_t all, uint64_t part) { return all - std::min(all, part); }

// The device whose memory contains these blocks; none = the host.
template <class Blocks> std::optional<uint8_t> deviceOf(const Blocks &blocks) {
  const bool on_device = blocks.heap == abi::Heap::Device || blocks.heap == abi::Heap::Managed;
  return on_device ? std::optional(blocks.device) : std::nullopt;
}

class UsageLedgerAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "ledger"; }
  void useCohorts(const Cohorts &, SiteCatalog &catalog) override { labels_ = &catalog.labels(); }
  bool usePeaks(const Peaks &peaks) override {
    peaks_ = &peaks;
    return true;
  }
  uint32_t eventKinds() const override {
    return abi::enabledBit(abi::EventKind::Counter) | abi::enabledBit(abi::EventKind::Pages);
  }
  void onEvent(const StreamEvent &event, SiteId) override {
    if (event.event.header().kind == abi::EventKind::Pages)
      onPages(event.process, event.event.as<abi::PagesEvent>());
    else
      onCounter(event);
  }

  void onAlloc(const Block &block, AllocCause, uint64_t) override {
    if (!block.reserve && block.heap == abi::Heap::Host)
      mallocIn(block.process).touch(peakNumber()).add(block);
  }
  void onFree(const Block &, FreeCause, uint64_t) override;
  void onPart(const Block &part, const Block &whole, uint64_t) override;
  void onProcessEnd(uint32_t process, const ProcessFate &fate) override { ends_[process].time_ns = fate.time_ns; }
  void conclude(Conclusion &) const override;

private:
  using BlockObserver::onPages;
  void onPages(uint32_t process, const abi::PagesEvent &);
  void onCounter(const StreamEvent &);
  AtPeak<MallocSums> &mallocIn(uint32_t process) {
    if (!last_malloc_ || last_process_ != process) {
      last_malloc_ = &mallocs_[process];
      last_process_ = process;
    }
    return *last_malloc_;
  }
  uint64_t peakNumber() const { return peaks_->physical().clock().number(); }
  uint64_t blockBytesOf(uint8_t device) const {
    return peaks_->of(Account{abi::Heap::Device, device}).clock().nowBytes() +
           peaks_->of(Account{abi::Heap::Managed, device}).clock().nowBytes();
  }
  PoolSum &poolOf(CohortId cohort) { return elementAt(pools_, cohort.index).touch(peakNumber()); }
  void endBlock(const Block &);
  template <class BytesOf> void addMalloc(LedgerSums &, uint64_t overhead_bytes, uint32_t process, BytesOf) const;
  std::map<uint32_t, Heaps> atPeak(Conclusion &) const;
  std::map<uint32_t, Heaps> atEnd(Conclusion &) const;

  const Labels *labels_ = nullptr;
  const Peaks *peaks_ = nullptr;
  std::map<uint8_t, DeviceNow> devices_;                     // devices that have reported their memory
  std::unordered_map<uint32_t, AtPeak<MallocSums>> mallocs_; // by process
  AtPeak<MallocSums> *last_malloc_ = nullptr;                // elements of an unordered_map do not move
  std::map<uint32_t, ResidentParts> resident_parts_;         // by process
  uint32_t last_process_ = 0;
  Segments<PoolSum> segments_;         // only part_bytes is set
  std::vector<AtPeak<PoolSum>> pools_; // by cohort of the segments
  std::map<uint32_t, EndOf> ends_;     // by process
  std::vector<uint64_t> end_bytes_;    // by cohort
  std::vector<PoolSum> end_pools_;
};

// The events of a look have the same time.
void UsageLedgerAnalyzer::onPages(uint32_t process, const abi::PagesEvent &pages) {
  const bool is_heap = (pages.at_exit & abi::kPagesOfHeap) != 0;
  if (!is_heap && (pages.at_exit & abi::kPagesOfImages) == 0)
    return;
  ResidentParts &parts = resident_parts_[process];
  const PeakClock &peak = peaks_->physical().clock();
  const auto take = [&](SampledBytes &sampled, uint64_t bytes) {
    sampled.sample(bytes, pages.header.time, peak.number(), peak.timeNs());
  };
  if (!is_heap)
    return take(parts.image_data, pages.touched);
  parts.heap_so_far += pages.touched;
  if (pages.allocated_ns == 0) // no part follows
    take(parts.free, differenceOf(std::exchange(parts.heap_so_far, 0), mallocIn(process).now().heap_bytes));
}

void UsageLedgerAnalyzer::onCounter(const StreamEvent &event) {
  const auto counter = event.event.as<abi::CounterEvent>();
  if (counter.header.heap != abi::Heap::Device || !labels_)
    return;
  const std::string_view label = labels_->textOf(event.process, counter.label);
  DeviceNow &device = devices_[counter.header.device];
  const PeakClock &peak = peaks_->physical().clock();
  const auto take = [&](SampledBytes &sampled, uint64_t beside) {
    sampled.sample(differenceOf(counter.value, beside), counter.header.time, peak.number(), peak.timeNs());
  };
  if (label == "driver: bytes in use") {
    take(device.beside_blocks, blockBytesOf(counter.header.device));
    device.driver_bytes = counter.value;
  } else if (label == "manager: bytes in use") {
    take(device.beside_driver, device.driver_bytes);
  }
}

void UsageLedgerAnalyzer::onPart(const Block &part, const Block &whole, uint64_t) {
  auto &segment = segments_.add(part, whole);
  PoolSum &pool = poolOf(segment.block.cohort);
  if (segment.content.segment_bytes == 0) {
    segment.content.segment_bytes = whole.bytes();
    pool.segment_bytes += whole.bytes();
  }
  segment.content.part_bytes += part.size;
  pool.part_bytes += part.size;
}

void UsageLedgerAnalyzer::endBlock(const Block &block) {
  if (abi::isPhysical(block.heap))
    elementAt(end_bytes_, block.cohort.index) += block.size;
  if (block.heap == abi::Heap::Host)
    ends_[block.process].malloc_overhead_bytes += takenBy(block).all_bytes - block.size;
}

void UsageLedgerAnalyzer::onFree(const Block &block, FreeCause cause, uint64_t) {
  const bool is_end = isEnd(cause);
  if (block.heap == abi::Heap::Pool) {
    if (auto *segment = segments_.takePart(block)) {
      segment->content.part_bytes -= block.size;
      poolOf(segment->block.cohort).part_bytes -= block.size;
      if (is_end)
        elementAt(end_pools_, segment->block.cohort.index).part_bytes += block.size;
    }
    return;
  }
  if (block.reserve || !abi::isPhysical(block.heap))
    return;
  if (is_end)
    endBlock(block);
  if (block.heap == abi::Heap::Host)
    mallocIn(block.process).touch(peakNumber()).remove(block);
  if (auto *segment = segments_.find(block)) {
    PoolSum &pool = poolOf(segment->block.cohort);
    pool.segment_bytes -= segment->content.segment_bytes;
    if (is_end) {
      elementAt(end_pools_, segment->block.cohort.index).segment_bytes += segment->content.segment_bytes;
      return segments_.end(block);
    }
    pool.part_bytes -= segment->content.part_bytes;
    segments_.erase(block);
  }
}

LedgerSource sourceOf(const Cohort &cohort, SiteCatalog &catalog) {
  return closedLibraryOf(cohort.site, catalog).empty() ? LedgerSource::Blocks : LedgerSource::ClosedLibrary;
}

// Adds blocks of a cohort, and separately the parts of them that pools use.
void add(LedgerSums &sums, LedgerSource source, uint64_t bytes, const PoolSum &pool) {
  const uint64_t used = std::min(pool.part_bytes, pool.segment_bytes);
  sums[source] += static_cast<int64_t>(bytes) - static_cast<int64_t>(pool.segment_bytes);
  sums[LedgerSource::PoolUsed] += static_cast<int64_t>(used);
  sums[LedgerSource::PoolFree] += static_cast<int64_t>(pool.segment_bytes - used);
}

// Adds the lines that follow from the kernel's sample of the process.
void settle(LedgerSums &sums, const ResidentSample &sample) {
  const uint64_t recorder = std::min(sample.recorder_bytes, sample.file_bytes);
  const uint64_t recorder_files = recorder - std::min(recorder, sample.shared_bytes);
  const uint64_t files = sample.file_bytes - std::min(sample.shared_bytes, sample.file_bytes);
  sums[LedgerSource::Recorder] = static_cast<int64_t>(recorder);
  sums[LedgerSource::FileBacked] = static_cast<int64_t>(files - std::min(recorder_files, files));
  const int64_t rest = static_cast<int64_t>(sample.resident_bytes) - sums.total();
  sums[rest < 0 ? LedgerSource::NotResident : LedgerSource::Unattributed] = rest;
}

// `bytesOf` returns the value of a sample at the time of the sums.
template <class BytesOf>
void UsageLedgerAnalyzer::addMalloc(LedgerSums &sums, uint64_t overhead_bytes, uint32_t process,
                                    BytesOf bytesOf) const {
  sums[LedgerSource::Allocator] = static_cast<int64_t>(overhead_bytes);
  const auto parts = resident_parts_.find(process);
  if (parts == resident_parts_.end())
    return;
  sums[LedgerSource::AllocatorFree] = static_cast<int64_t>(bytesOf(parts->second.free));
  sums[LedgerSource::ImageData] = static_cast<int64_t>(bytesOf(parts->second.image_data));
}

std::map<uint32_t, Heaps> UsageLedgerAnalyzer::atPeak(Conclusion &conclusion) const {
  std::map<uint32_t, Heaps> processes;
  const auto add = [&](CohortId id, uint64_t bytes, const PoolSum &pool) {
    const Cohort &cohort = conclusion.cohorts[id];
    analysis::add(processes[cohort.process][deviceOf(cohort)], sourceOf(cohort, conclusion.catalog), bytes, pool);
  };
  for (const CohortShare &share : peaks_->physical().shares())
    add(share.cohort, share.bytes, {});
  for (uint32_t index = 1; index < pools_.size(); ++index)
    if (const PoolSum &pool = pools_[index].then(peakNumber()); pool.segment_bytes != 0)
      add({index}, 0, pool);
  for (const auto &[process, malloc] : mallocs_)
    addMalloc(processes[process][{}], malloc.then(peakNumber()).overhead_bytes, process,
              [&](const SampledBytes &sampled) { return sampled.atPeak(peakNumber()); });
  return processes;
}

std::map<uint32_t, Heaps> UsageLedgerAnalyzer::atEnd(Conclusion &conclusion) const {
  std::map<uint32_t, Heaps> processes;
  for (uint32_t index = 1; index < end_bytes_.size(); ++index)
    if (end_bytes_[index] != 0) {
      const Cohort &cohort = conclusion.cohorts[{index}];
      analysis::add(processes[cohort.process][deviceOf(cohort)], sourceOf(cohort, conclusion.catalog),
                    end_bytes_[index], valueAt(end_pools_, index));
    }
  for (const auto &[process, end] : ends_)
    addMalloc(processes[process][{}], end.malloc_overhead_bytes, process,
              [](const SampledBytes &sampled) { return sampled.now(); });
  return processes;
}

// Adds up all processes. If some processes were sampled, the host's lines contain only these processes: then the sum of
// the lines is the resident memory.
Heaps settled(std::map<uint32_t, Heaps> processes, const std::function<uint64_t(uint32_t)> &timeOf,
              const ResidentHistory &resident) {
  Heaps all, unsampled;
  bool is_sampled = false;
  for (auto &[process, heaps] : processes) {
    LedgerSums host = heaps[{}];
    heaps.erase(std::nullopt);
    for (const auto &[device, sums] : heaps)
      all[device] += sums;
    const auto sample = resident.near(process, timeOf(process));
    is_sampled |= sample.has_value();
    if (sample)
      settle(host, *sample);
    (sample ? all : unsampled)[{}] += host;
  }
  if (!is_sampled)
    all[{}] += unsampled[{}];
  return all;
}

Ledger linesOf(const Heaps &at_end, const Heaps &at_peak) {
  Ledger ledger;
  Heaps devices = at_end; // for their keys
  devices.insert(at_peak.begin(), at_peak.end());
  const auto of = [](const Heaps &heaps, std::optional<uint8_t> device) {
    const auto found = heaps.find(device);
    return found == heaps.end() ? LedgerSums{} : found->second;
  };
  for (const auto &[device, ignored] : devices)
    for (size_t source = 0; source < kLedgerSources; ++source) {
      const LedgerLine line{device, static_cast<LedgerSource>(source),
                            of(at_end, device)[static_cast<LedgerSource>(source)],
                            of(at_peak, device)[static_cast<LedgerSource>(source)]};
      if (line.bytes != 0 || line.at_peak_bytes != 0)
        ledger.push_back(line);
    }
  return ledger;
}

void UsageLedgerAnalyzer::conclude(Conclusion &conclusion) const {
  const uint64_t peak_ns = peaks_->physical().clock().timeNs();
  // Uses the same processes as the resident memory of the peak: those that ever had blocks.
  auto at_peak = atPeak(conclusion);
  for (const auto &[process, clock] : peaks_->processes())
    if (clock.bytes() != 0)
      at_peak[process];
  const auto endOf = [&](uint32_t process) {
    const auto end = ends_.find(process);
    return end == ends_.end() ? UINT64_MAX : end->second.time_ns;
  };
  Heaps end = settled(atEnd(conclusion), endOf, conclusion.resident);
  Heaps peak = settled(std::move(at_peak), [=](uint32_t) { return peak_ns; }, conclusion.resident);
  for (const auto &[number, device] : devices_) {
    const auto set = [&](LedgerSource source, const SampledBytes &sampled) {
      end[number][source] = static_cast<int64_t>(sampled.now());
      peak[number][source] = static_cast<int64_t>(sampled.atPeak(peakNumber()));
    };
    set(LedgerSource::Driver, device.beside_blocks);
    set(LedgerSource::Manager, device.beside_driver);
  }
  conclusion.result.ledger = linesOf(end, peak);
}

} // namespace

MSL_REGISTER_ANALYZER(usage_ledger, UsageLedgerAnalyzer)

} // namespace msleaks::analysis::inline analyzers
