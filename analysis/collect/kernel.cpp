#include "analysis/collect/kernel.h"

#include "msleaks/abi/process_status.h"
#include "msleaks/abi/session.h"

#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace msleaks::analysis::inline collect {

KernelFacts askKernel() {
  KernelFacts facts{static_cast<uint64_t>(sysconf(_SC_PAGESIZE)), false};
  void *page = mmap(nullptr, facts.page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return {facts.page_bytes, true}; // mmap failed for another reason
  facts.wipes_on_fork = madvise(page, facts.page_bytes, MADV_WIPEONFORK) == 0;
  munmap(page, facts.page_bytes);
  return facts;
}

std::string whyUnserved(const KernelFacts &facts) {
  if (facts.page_bytes > abi::kMaxPageBytes)
    return fmt::format("nothing can be recorded: the kernel has pages of {} KiB, and this build serves at most {} KiB",
                       facts.page_bytes >> 10, abi::kMaxPageBytes >> 10);
  if (!facts.wipes_on_fork)
    return "nothing can be recorded: the kernel has no MADV_WIPEONFORK, which Linux has since 4.14";
  return {};
}

uint32_t ownSeccompFilters() {
  std::ifstream file("/proc/self/status");
  const std::string status((std::istreambuf_iterator<char>(file)), {});
  return abi::seccompFilters(status);
}

} // namespace msleaks::analysis::inline collect
