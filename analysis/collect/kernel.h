// Features of the kernel that the runtime needs. The kernel is one for msleaks-run and for every process that it
// records. So msleaks-run can say beforehand that none of them will record: they themselves stay inert in silence.
#pragma once

#include <cstdint>
#include <string>

namespace msleaks::analysis::inline collect {

struct KernelFacts {
  uint64_t page_bytes;
  bool wipes_on_fork; // MADV_WIPEONFORK
};
KernelFacts askKernel();

// Empty: it can be served.
std::string whyUnserved(const KernelFacts &);

// Seccomp filters that hold for this process, as in a container. What it starts begins with as many.
uint32_t ownSeccompFilters();

} // namespace msleaks::analysis::inline collect
