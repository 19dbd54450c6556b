// bench_looking BLOCKS BYTES: measures the time in which the collector's code finds the present pages of BLOCKS blocks.
// Each block has BYTES bytes.
//
// Prints `untouched MS half MS whole MS`: the milliseconds to read all pages once. For `untouched` the program touched
// no page, for `half` every second page, and for `whole` all pages.
#include "analysis/base/machine.h"
#include "analysis/reach/page_access.h"

#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

namespace {

using namespace msleaks;
using namespace msleaks::analysis;

double lookMs(PageAccess &access) {
  const uint64_t begin_ns = readMonotonicNs();
  while (access.look(begin_ns).empty()) // one call may read only a part of the pages
    ;
  return static_cast<double>(readMonotonicNs() - begin_ns) / 1e6;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: bench_looking BLOCKS BYTES\n");
    return 2;
  }
  const uint64_t count = std::strtoull(argv[1], nullptr, 10), size = std::strtoull(argv[2], nullptr, 10);
  void *mapped =
      mmap(nullptr, count * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    std::perror("mmap");
    return 4;
  }
  madvise(mapped, count * size, MADV_NOHUGEPAGE);
  auto *memory = static_cast<char *>(mapped);
  PageAccess access(static_cast<uint32_t>(getpid()), 1);
  for (uint64_t i = 0; i < count; ++i) {
    const abi::AllocEvent event{
        {abi::EventKind::Alloc, abi::Heap::Host, 0, 0, 0, i + 1}, reinterpret_cast<uintptr_t>(memory + i * size), size};
    access.onEvent(abi::AnyEvent::from(event).slots[0]);
  }
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const double untouched = lookMs(access);
  for (uint64_t at = 0; at < count * size; at += 2 * page)
    memory[at] = 1;
  const double half = lookMs(access);
  for (uint64_t at = page; at < count * size; at += 2 * page)
    memory[at] = 1;
  std::printf("untouched %.2f half %.2f whole %.2f\n", untouched, half, lookMs(access));
  return 0;
}
