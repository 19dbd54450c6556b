#include "analysis/reach/pointer_reading.h"

#include "analysis/base/machine.h"
#include "analysis/reach/between_allocations.h"

#include <algorithm>
#include <fmt/format.h>

namespace msleaks::analysis::inline reach {
namespace {

// Small enough to stay in the processor's cache until it is scanned.
constexpr uint64_t kPartBytes = 1 << 20;
// For this much mapped memory, it takes a second to find the pages that are present and malloc's arenas. The sanitizers
// map a hundred times as much.
constexpr uint64_t kMostMappedBytes = uint64_t{256} << 30;

} // namespace

PointerReading::PointerReading(Subject subject) : subject_(std::move(subject)) {
  map_.process = subject_.process;
  map_.all_blocks = subject_.all_blocks;
  map_.why_not = subject_.why_not;
  if (subject_.pid == 0)
    giveUp("the process cannot be read from here");
  else
    prepare();
}

// Ends the reading.
void PointerReading::giveUp(std::string why) {
  if (map_.why_not.empty())
    map_.why_not = std::move(why);
  runs_.clear();
}

void PointerReading::prepare() {
  memory_.emplace(subject_.pid);
  if (const uint64_t mapped = writableBytes(memory_->maps()); mapped > kMostMappedBytes)
    return giveUp(fmt::format("it has mapped {} bytes, more than can be looked through", mapped));
  stopThreads();
  const std::vector<uint32_t> live = threadsOf(subject_.pid);
  map_.regions = regionsOf(*memory_, {subject_.session, threads(), {live.begin(), live.end()}, subject_.own});
  if (map_.regions.empty())
    return giveUp("its memory cannot be read");
  std::vector<MemoryRegion> targets;
  std::copy_if(map_.regions.begin(), map_.regions.end(), std::back_inserter(targets), mayHoldBlocks);
  scan_.emplace(targets);
  planRuns();
  if (map_.read_bytes > subject_.most_bytes) {
    map_.regions.clear();
    giveUp(fmt::format("it has {} bytes to be read, and --reach-max allows {}", map_.read_bytes, subject_.most_bytes));
    map_.read_bytes = 0;
  }
}

// If no thread waits, stops the threads between allocations only. In the middle of a realloc, the old content may
// already be in a new block that is not recorded yet.
void PointerReading::stopThreads() {
  if (isAwaited())
    stopped_.emplace(subject_.pid, subject_.waiting.tid);
  else
    stopped_.emplace(subject_.pid, 0, BetweenAllocations(*memory_, subject_.own));
  if (!isAwaited())
    subject_.since_ns = readMonotonicNs();
  if (!map_.why_not.empty())
    return;
  if (stopped_->unseen() > 0)
    map_.why_not = fmt::format("{} of its threads did not stop while its memory was read", stopped_->unseen());
  else if (stopped_->unsettled() > 0)
    map_.why_not = fmt::format("{} of its threads were in the middle of an allocation", stopped_->unsettled());
}

std::vector<ThreadState> PointerReading::threads() const {
  std::vector<ThreadState> threads = stopped_->threads();
  if (isAwaited()) {
    threads.insert(threads.begin(), subject_.waiting);
    threads[0].registers = {subject_.waiting.stack};
  }
  return threads;
}

void PointerReading::planRuns() {
  const uint64_t page = memory_->pageBytes();
  for (const MemoryRegion &region : map_.regions)
    for (const ProcessMemory::Run &run :
         memory_->touched(region.begin & ~(page - 1), (region.end + page - 1) & ~(page - 1))) {
      runs_.push_back({std::max(run.begin, region.begin), std::min(run.end, region.end)});
      map_.read_bytes += runs_.back().end - runs_.back().begin;
    }
}

Result<bool> PointerReading::advance(TraceWriter &writer, uint64_t bytes) {
  for (uint64_t read = 0; next_run_ < runs_.size() && read < bytes;) {
    ProcessMemory::Run &run = runs_[next_run_];
    const uint64_t end = std::min(run.end, run.begin + kPartBytes);
    read += end - run.begin;
    MSL_TRY(readPart(writer, {run.begin, end}));
    if (runs_.empty())
      break;
    run.begin = end;
    next_run_ += run.begin == run.end;
  }
  return next_run_ >= runs_.size();
}

Result<void> PointerReading::readPart(TraceWriter &writer, ProcessMemory::Run part) {
  words_.resize((part.end - part.begin) / sizeof(uint64_t));
  if (!memory_->read(part.begin, std::as_writable_bytes(std::span(words_)))) {
    giveUp("its memory changed while it was read");
    return {};
  }
  Result<void> stored;
  scan_->scan(part.begin, words_, [&](const Pointer &pointer) {
    packer_.add(pointer);
    if (packer_.isFull() && stored)
      stored = flush(writer);
  });
  return stored;
}

Result<void> PointerReading::flush(TraceWriter &writer) {
  if (packer_.count() == 0)
    return {};
  map_.pointers += packer_.count();
  auto stored = writer.pointers(map_.process, packer_.payload());
  packer_.clear();
  return stored;
}

void PointerReading::takeRegisters() {
  constexpr uint64_t kBytesOfThread = 32768;
  uint64_t at = kFirstRegister;
  for (const ThreadState &thread : threads()) {
    map_.regions.push_back({at, at + kBytesOfThread, RegionUse::Registers, thread.tid, {}, 0});
    scan_->scan(at, thread.registers, [&](const Pointer &pointer) { packer_.add(pointer); });
    at += kBytesOfThread;
  }
}

Result<void> PointerReading::store(TraceWriter &writer, uint64_t now_ns, bool whole) {
  if (!whole)
    giveUp("the process did not wait until it had been read");
  if (scan_ && !map_.regions.empty())
    takeRegisters();
  MSL_TRY(flush(writer));
  map_.time_ns = now_ns;
  map_.waited_ns = now_ns - std::min(now_ns, subject_.since_ns);
  return writer.pointerMap(map_);
}

} // namespace msleaks::analysis::inline reach
