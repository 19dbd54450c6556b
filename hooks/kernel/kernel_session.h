// Kernel evidence: programs in the kernel (BPF) that observe what the operating system does for the processes of a
// session (docs/kernel.md). Nothing here is loaded into the program itself.
//
// A collector has an ordered list of mechanisms. The first one that the kernel accepts is used, and each refusal is
// kept. A refusal never harms the program.
#pragma once

#include "analysis/base/kernel_collector.h"
#include "analysis/collect/kernel_streams.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::kernel {

// The user asks for one collector.
struct Request {
  std::string name;
  std::vector<uint32_t> calls = {}; // for `syscalls`: numbers of calls; empty = all
};

struct Setup {
  std::vector<Request> requests;
  uint64_t ring_bytes = 16u << 20; // size of each ring, a power of two
  uint32_t root = 0;               // its children are followed from their exec on; 0 = nobody is followed
};

// The names of all collectors, in the order of docs/kernel.md.
const std::vector<std::string_view> &collectorNames();

class KernelSession : public analysis::KernelEvents {
public:
  // Loads and attaches what the kernel accepts. The destructor detaches everything.
  static std::unique_ptr<KernelSession> start(const Setup &);

  // From now on, new children of the root are not followed. Processes that are followed already stay so.
  virtual void keepOutChildren() = 0;
  // Entered = delivered + ring_full + map_full + unreturned. Calls that are open now count as unreturned.
  virtual std::vector<analysis::KernelCollector> collectors() const = 0;
};

} // namespace msleaks::kernel
