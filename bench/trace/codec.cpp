// bench_trace RUN…: measures the time to write and read a trace, and its size, with the events of a recorded run.
// Prints two Markdown rows for a run: one with the run's own streams, and one with eight streams that get the events in
// turns. Eight such streams are the worst case for merging.
#include "analysis/base/run_folder.h"
#include "analysis/trace/trace_reader.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>
#include <unistd.h>
#include <vector>

namespace {

using namespace msleaks;
using namespace msleaks::analysis;
namespace fs = std::filesystem;

constexpr size_t kBatchSlots = 8192; // a quarter of a megabyte, which is the size of a thread's first ring

// Returns the processor time of this process, which other programs on the machine hardly change.
double cpuSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

using Streams = std::map<std::pair<uint32_t, uint32_t>, std::vector<abi::Slot>>;

void append(std::vector<abi::Slot> &slots, const abi::AnyEvent &event) {
  slots.insert(slots.end(), event.slots, event.slots + abi::slotsOf(event.header().kind));
}

struct Cost {
  double write_ns, read_ns, bytes;
};

// Writes the streams to a trace, one batch of each stream in turns, and reads the trace.
Result<Cost> measure(const Streams &streams, uint64_t events, const fs::path &file) {
  fs::remove(file);
  Result<TraceWriter> writer = TraceWriter::create(file);
  if (!writer)
    return tl::make_unexpected(writer.error());
  const double begin = cpuSeconds();
  bool more = true;
  std::map<std::pair<uint32_t, uint32_t>, size_t> done;
  while (std::exchange(more, false))
    for (const auto &[key, slots] : streams) {
      size_t &from = done[key];
      size_t to = std::min(from + kBatchSlots, slots.size());
      while (to < slots.size() && abi::isContinuation(slots[to]))
        ++to;
      if (Result<void> written = writer->events({key.first, key.second, from, {&slots[from], to - from}}); !written)
        return tl::make_unexpected(written.error());
      from = to;
      more |= to < slots.size();
    }
  const double written = cpuSeconds();
  if (Result<void> closed = writer->close(); !closed)
    return tl::make_unexpected(closed.error());
  uint64_t sum = 0;
  const Result<TraceReader> reader = TraceReader::open(file);
  const double opened = cpuSeconds();
  const Result<uint64_t> given = reader ? reader->forEachEvent([&](const StreamEvent &event) {
    sum += event.event.slots[0].payload[0];
    return true;
  })
                                        : fail(reader.error().message);
  const double read = cpuSeconds();
  if (!given || *given != events || sum == 1)
    return fail("what was written is not what is read");
  const double per_event = 1e9 / static_cast<double>(events);
  return Cost{(written - begin) * per_event, (read - opened) * per_event,
              static_cast<double>(writer->bytesWritten()) / static_cast<double>(events)};
}

Result<void> measureRun(const fs::path &run, const fs::path &scratch) {
  Streams as_they_are, dealt_out;
  uint64_t events = 0;
  const Result<RunFolder> folder = RunFolder::open(run);
  const Result<TraceReader> reader = folder ? TraceReader::open(folder->trace()) : fail(folder.error().message);
  if (!reader)
    return fail(reader.error().message);
  const Result<uint64_t> read = reader->forEachEvent([&](const StreamEvent &event) {
    append(as_they_are[{event.process, event.stream}], event.event);
    append(dealt_out[{1, static_cast<uint32_t>(events++ % 8)}], event.event);
    return true;
  });
  if (!read)
    return fail(read.error().message);
  for (const Streams *streams : {&as_they_are, &dealt_out}) {
    const Result<Cost> cost = measure(*streams, events, scratch);
    if (!cost)
      return fail(cost.error().message);
    std::printf("| %s | %zu | %.2f M | %.2f | %.1f ns | %.1f M/s |\n", run.filename().c_str(), streams->size(),
                static_cast<double>(events) / 1e6, cost->bytes, cost->write_ns, 1e3 / cost->read_ns);
  }
  return {};
}

} // namespace

int main(int count, char **arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: bench_trace RUN…\n");
    return static_cast<int>(ExitStatus::Usage);
  }
  const fs::path scratch = fs::temp_directory_path() / ("msleaks-bench-trace-" + std::to_string(::getpid()));
  std::printf(
      "| run | streams | events | bytes/event | write, CPU/event | read and merge |\n|---|--:|--:|--:|--:|--:|\n");
  int status = 0;
  for (int i = 1; i < count; ++i)
    if (const Result<void> measured = measureRun(arguments[i], scratch); !measured) {
      std::fprintf(stderr, "bench_trace: %s\n", measured.error().message.c_str());
      status = static_cast<int>(measured.error().status);
    }
  fs::remove(scratch);
  return status;
}
