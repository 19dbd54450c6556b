// Measures the time to record an event, on any number of threads: a clock read alone, msleaks' record(), or LTTng's
// tracepoint with three fields.
//
//   usage: record clock|msleaks|lttng THREADS EVENTS_PER_THREAD [EVENTS_PER_SECOND]
//
// Prints the ns of processor time per event, as the median of the threads. `msleaks` needs a session (msleaks-run).
// `lttng` needs a running LTTng session in which the event is enabled.
//
// With EVENTS_PER_SECOND, each thread records a burst of events about every millisecond. bench/run.py measures how many
// of these events are dropped.
#include "msleaks/runtime/record.h"
#include "msleaks/abi/events.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

#ifdef MSLEAKS_BENCH_LTTNG
extern "C" void peerRecord(uint64_t address, uint64_t size, uint32_t site);
#endif

namespace {

using Record = void (*)(uint64_t index);

uint64_t nowNs(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}

// Sleeps until the given time. Spinning would use processor time that the collector needs.
void waitUntil(uint64_t moment_ns) {
  const timespec moment{static_cast<time_t>(moment_ns / 1'000'000'000u), static_cast<long>(moment_ns % 1'000'000'000u)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, nullptr);
}

// These functions are not inlined, so each event needs a call, as in an instrumented program.
__attribute__((noinline)) void readClock(uint64_t) {
  const uint64_t ticks = msleaks::runtime::readTicks();
  __asm__ volatile("" : : "r"(ticks));
}

__attribute__((noinline)) void recordOurs(uint64_t index) {
  msleaks::runtime::recordAlloc(msleaks::abi::Heap::Host, 0, static_cast<uint32_t>(index & 0xff) + 1,
                                0x7f0000000000 + index * 64, index & 0xfff);
}

#ifdef MSLEAKS_BENCH_LTTNG
__attribute__((noinline)) void recordPeer(uint64_t index) {
  peerRecord(0x7f0000000000 + index * 64, index & 0xfff, static_cast<uint32_t>(index & 0xff) + 1);
}
#endif

double nsPerEvent(Record record, uint64_t events, uint64_t rate) {
  const uint64_t burst = rate / 1000 + 1; // the number of events in a millisecond
  const uint64_t begin_ns = nowNs(CLOCK_MONOTONIC);
  const uint64_t cpu_ns = nowNs(CLOCK_THREAD_CPUTIME_ID);
  for (uint64_t i = 0; i < events; ++i) {
    if (rate != 0 && i % burst == 0)
      waitUntil(begin_ns + i * 1'000'000'000u / rate);
    record(i);
  }
  return static_cast<double>(nowNs(CLOCK_THREAD_CPUTIME_ID) - cpu_ns) / static_cast<double>(events);
}

Record wayNamed(const char *name) {
  if (std::strcmp(name, "clock") == 0)
    return readClock;
  if (std::strcmp(name, "msleaks") == 0)
    return recordOurs;
#ifdef MSLEAKS_BENCH_LTTNG
  if (std::strcmp(name, "lttng") == 0)
    return recordPeer;
#endif
  return nullptr;
}

} // namespace

int main(int argc, char **argv) {
  const Record record = argc >= 4 ? wayNamed(argv[1]) : nullptr;
  if (record == nullptr)
    return std::fputs("usage: record clock|msleaks|lttng THREADS EVENTS_PER_THREAD [EVENTS_PER_SECOND]\n", stderr), 2;
  const auto threads = std::strtoul(argv[2], nullptr, 10);
  const auto events = std::strtoull(argv[3], nullptr, 10);
  const auto rate = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 0;

  std::vector<double> cost(threads);
  std::vector<std::thread> running;
  for (double &mine : cost)
    running.emplace_back([&mine, record, events, rate] {
      nsPerEvent(record, events / 10, rate); // warm-up: rings, page tables and caches are then as in a long run
      mine = nsPerEvent(record, events, rate);
    });
  for (std::thread &thread : running)
    thread.join();
  std::nth_element(cost.begin(), cost.begin() + static_cast<long>(threads / 2), cost.end());
  std::printf("%.2f\n", cost[threads / 2]);
}
