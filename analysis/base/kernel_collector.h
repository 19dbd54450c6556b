// The state of one collector of kernel evidence (docs/kernel.md): which mechanism it uses, and its account.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace msleaks::analysis::inline base {

// A mechanism that the kernel or the machine refused.
struct KernelRefusal {
  std::string mechanism, reason;
  int error = 0; // errno
};

struct KernelCollector {
  std::string name;
  std::string state; // active, degraded, no-producer, unavailable, not-built
  std::string mechanism;
  std::string reason; // why the state is not active; empty: it is
  int error = 0;      // errno of that reason
  // entered = delivered + ring_full + map_full + unreturned
  uint64_t entered = 0, delivered = 0, ring_full = 0, map_full = 0, unreturned = 0;
  std::vector<KernelRefusal> refusals = {};
  bool isUsable() const { return state == "active" || state == "degraded" || state == "no-producer"; }
};

} // namespace msleaks::analysis::inline base
