// bench_reading EVENTS STREAMS: measures the time to read the trace of a simulated program. Each stream of the program
// allocates and frees blocks at random, and has up to a thousand live blocks. Prints a Markdown row for each case:
//
//  - reading with two analyzers of a report, or only counting events; each with one thread and with two threads
//  - opening the trace with an index (complete session), and without an index (killed session)
#include "analysis/analyzers/leaks.h"
#include "analysis/analyzers/peak.h"
#include "analysis/stream/pipeline.h"
#include "analysis/trace/trace_reader.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <random>
#include <unistd.h>
#include <vector>

namespace {

using namespace msleaks;
using namespace msleaks::analysis;
namespace fs = std::filesystem;

constexpr size_t kBatchSlots = 8192; // the number of slots that the collector usually finds in a ring

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// A thread of the simulated program.
class Thread {
public:
  explicit Thread(uint32_t number) : number_(number), random_(number), blocks_(1000) {}

  Result<void> write(TraceWriter &writer, uint64_t begin_ns) {
    slots_.clear();
    for (time_ns_ = std::max(time_ns_, begin_ns); slots_.size() < kBatchSlots; time_ns_ += 20 + random_() % 200)
      record();
    const uint64_t position = position_;
    position_ += slots_.size();
    return writer.events({1, number_, position, slots_});
  }

private:
  void record() {
    uint64_t &block = blocks_[random_() % blocks_.size()];
    const bool alive = block != 0;
    const uint64_t address = alive ? block : next_ += 16 * (1 + random_() % 64);
    block = alive ? 0 : address;
    slots_.push_back({{alive ? abi::EventKind::Free : abi::EventKind::Alloc, abi::Heap::Host, 0, abi::kFromHook,
                       static_cast<uint32_t>(random_() % 300), time_ns_},
                      {address, alive ? 0 : 8 * (1 + random_() % 100)}});
  }

  uint32_t number_;
  std::minstd_rand random_;
  std::vector<uint64_t> blocks_;
  std::vector<abi::Slot> slots_;
  uint64_t position_ = 0, time_ns_ = 1'000'000, next_ = uint64_t{number_} << 40 | 0x1000;
};

Result<void> make(const fs::path &file, uint64_t events, uint32_t streams) {
  fs::remove(file);
  auto writer = MSL_TRY(TraceWriter::create(file));
  MSL_TRY(writer.processStart({1, 100, 1, 1, 1, {"made-up"}}));
  std::vector<Thread> threads;
  for (uint32_t i = 0; i < streams; ++i)
    threads.emplace_back(i);
  uint64_t begin_ns = 0;
  for (uint64_t written = 0; written < events; begin_ns += 2'000'000)
    for (Thread &thread : threads) {
      MSL_TRY(thread.write(writer, begin_ns));
      written += kBatchSlots;
    }
  return writer.close();
}

Result<void> measureOpening(const char *way, const fs::path &file) {
  std::vector<double> taken;
  uint64_t events = 0;
  for (int i = 0; i < 7; ++i) {
    const double begin = seconds();
    const auto reader = MSL_TRY(TraceReader::open(file));
    taken.push_back(seconds() - begin);
    events = reader.eventCount();
  }
  std::sort(taken.begin(), taken.end());
  const double gib = static_cast<double>(fs::file_size(file)) / (1u << 30);
  const double ms = taken[taken.size() / 2] * 1e3;
  std::printf("| %s | %.1f M | %.3f GiB | %.3f ms | %.3f ms |\n", way, static_cast<double>(events) / 1e6, gib, ms,
              ms / gib);
  return {};
}

Result<void> measureOpenings(const fs::path &file) {
  std::printf("| opened | events | size | time | per GiB |\n|---|--:|--:|--:|--:|\n");
  MSL_TRY(measureOpening("by its index", file));
  fs::resize_file(file, fs::file_size(file) - 1);
  return measureOpening("by a walk", file);
}

double cpuSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

Result<void> countEvents(const TraceReader &reader, Reading reading) {
  uint64_t sum = 0;
  MSL_TRY(reader.forEachEvent(reading, [&](const StreamEvent &event) {
    sum += event.event.slots[0].payload[0];
    return true;
  }));
  return sum == 1 ? fail("an unlikely sum") : Result<void>();
}

// Analyzes the events with two analyzers of the report.
Result<void> analyzeEvents(const TraceReader &reader, Reading reading) {
  Symbolizer symbolizer;
  SiteCatalog catalog(symbolizer);
  MSL_TRY(catalog.load(reader));
  LeakAnalyzer leaks;
  PeakAnalyzer peak;
  Pipeline pipeline(catalog, {&peak, &leaks});
  MSL_TRY(reader.forEachEvent(reading, [&](const StreamEvent &event) {
    pipeline.apply(event);
    return true;
  }));
  pipeline.finish();
  return {};
}

using Consumer = Result<void> (*)(const TraceReader &, Reading);

Result<void> measureReading(const char *what, Consumer consume, const TraceReader &reader) {
  struct Cost {
    double wall, cpu;
  };
  std::vector<Cost> costs[2];
  for (int round = 0; round < 5; ++round)
    for (const Reading reading : {Reading::Inline, Reading::Ahead}) {
      const double begin = seconds(), cpu = cpuSeconds();
      MSL_TRY(consume(reader, reading));
      costs[reading == Reading::Ahead].push_back({seconds() - begin, cpuSeconds() - cpu});
    }
  const auto median = [&](bool ahead, double Cost::*of) {
    std::sort(costs[ahead].begin(), costs[ahead].end(), [&](const Cost &a, const Cost &b) { return a.*of < b.*of; });
    return costs[ahead][costs[ahead].size() / 2].*of * 1e9 / static_cast<double>(reader.eventCount());
  };
  std::printf("| %s | %.1f ns | %.1f ns | %.2f | %.1f ns | %.1f ns |\n", what, median(false, &Cost::wall),
              median(true, &Cost::wall), median(false, &Cost::wall) / median(true, &Cost::wall),
              median(false, &Cost::cpu), median(true, &Cost::cpu));
  return {};
}

Result<void> measureReadings(const fs::path &file) {
  const auto reader = MSL_TRY(TraceReader::open(file));
  std::printf("| an event | one thread, wall | two | ratio | one thread, CPU | two |\n|---|--:|--:|--:|--:|--:|\n");
  MSL_TRY(measureReading("read and counted", countEvents, reader));
  MSL_TRY(measureReading("read and analyzed", analyzeEvents, reader));
  std::printf("\n");
  return {};
}

Result<void> measureAll(uint64_t events, uint32_t streams, const fs::path &file) {
  MSL_TRY(make(file, events, streams));
  MSL_TRY(measureReadings(file));
  return measureOpenings(file);
}

} // namespace

int main(int count, char **arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: bench_reading EVENTS STREAMS\n");
    return static_cast<int>(ExitStatus::Usage);
  }
  const fs::path scratch = fs::temp_directory_path() / ("msleaks-bench-reading-" + std::to_string(::getpid()));
  const Result<void> measured = measureAll(std::strtoull(arguments[1], nullptr, 10),
                                           static_cast<uint32_t>(std::strtoul(arguments[2], nullptr, 10)), scratch);
  fs::remove(scratch);
  if (measured)
    return 0;
  std::fprintf(stderr, "bench_reading: %s\n", measured.error().message.c_str());
  return static_cast<int>(measured.error().status);
}
