// The system's clocks in nanoseconds, and the number of processors.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <future>
#include <sched.h>
#include <system_error>
#include <thread>
#include <time.h>
#include <vector>

namespace msleaks::analysis::inline base {

inline uint64_t readClockNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}
inline uint64_t readMonotonicNs() { return readClockNs(CLOCK_MONOTONIC); }
inline uint64_t readRealtimeNs() { return readClockNs(CLOCK_REALTIME); }

inline void sleepNs(uint64_t ns) {
  const timespec duration{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  nanosleep(&duration, nullptr);
}

// The number of processors that this process may use. The machine may have more.
inline unsigned usableProcessors() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    return static_cast<unsigned>(CPU_COUNT(&allowed));
  return std::thread::hardware_concurrency(); // the machine has more processors than a cpu_set_t can hold
}

// Calls f(0) to f(count - 1), each once, on as many threads as there are usable processors. If a call throws, this
// function throws the same exception after all threads have ended.
template <class F> void eachInParallel(size_t count, F &&f) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < count;)
      f(i);
  };
  std::vector<std::future<void>> helpers;
  const size_t most = std::min<size_t>(count, std::max(1u, usableProcessors()));
  try {
    while (helpers.size() + 1 < most)
      helpers.push_back(std::async(std::launch::async, work));
  } catch (const std::system_error &) {
    // The system allows no more threads, so the threads that exist do all the work.
  }
  work();
  for (std::future<void> &helper : helpers)
    helper.get();
}

} // namespace msleaks::analysis::inline base
