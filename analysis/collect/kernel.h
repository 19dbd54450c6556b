// Features of the kernel that the runtime needs. msleaks-run has the same kernel as the processes that it records. So
// it can report beforehand that nothing will be recorded. The runtime in a process would record nothing without a
// message.
#pragma once

#include <cstdint>
#include <string>

namespace msleaks::analysis::inline collect {

struct KernelFacts {
  uint64_t page_bytes;
  bool wipes_on_fork; // MADV_WIPEONFORK
};
KernelFacts askKernel();

// Returns why nothing can be recorded on this kernel; empty: it can.
std::string whyUnserved(const KernelFacts &);

// Returns the number of seccomp filters of this process, for example in a container. A program that it starts begins
// with the same number.
uint32_t ownSeccompFilters();

} // namespace msleaks::analysis::inline collect
