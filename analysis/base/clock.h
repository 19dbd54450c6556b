// The system's clocks as plain nanoseconds.
#pragma once

#include <cstdint>
#include <time.h>

namespace msleaks::analysis {

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

} // namespace msleaks::analysis
