// How many processors this process may run on, whatever the machine has.
#pragma once

#include <sched.h>
#include <thread>

namespace msleaks::analysis {

inline unsigned usableProcessors() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    return static_cast<unsigned>(CPU_COUNT(&allowed));
  return std::thread::hardware_concurrency(); // more than a set has room for
}

} // namespace msleaks::analysis
