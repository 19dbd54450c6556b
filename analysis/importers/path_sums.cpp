#include "analysis/importers/path_sums.h"

#include <algorithm>
#include <fmt/format.h>

namespace msleaks::analysis::inline importers {
namespace {

uint64_t saturatingSum(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

} // namespace

void PathSums::addBlocks(ForeignRun &run, ForeignRun::Process &process, uint32_t site, const BlockSum &blocks,
                         bool are_freed) {
  for (uint64_t number = 0; number < blocks.count; ++number) {
    abi::AllocEvent event{};
    event.header.heap = abi::Heap::Host;
    event.address = next_address_;
    event.size = blocks.bytes / blocks.count + (number < blocks.bytes % blocks.count);
    run.add(process, process.pid, ++time_ns_, event, site);
    if (!are_freed) {
      next_address_ += std::max<uint64_t>(std::min(event.size, UINT64_MAX / 2 - next_address_), 1);
      continue;
    }
    abi::FreeEvent freed{};
    freed.header.heap = abi::Heap::Host;
    freed.address = next_address_;
    run.add(process, process.pid, ++time_ns_, freed);
  }
}

void PathSums::write(ForeignRun &run, ForeignRun::Process &process) {
  BlockSum alive, freed;
  for (const Path &path : paths_) {
    alive.count = saturatingSum(alive.count, path.alive.count);
    freed.count = saturatingSum(freed.count, path.freed.count);
    freed.bytes = saturatingSum(freed.bytes, path.freed.bytes);
  }
  if (freed.count > kMostBlocks)
    run.facts.notes.push_back(
        fmt::format("{} freed blocks with {} bytes are left out: they are too many", freed.count, freed.bytes));
  else
    for (const Path &path : paths_)
      addBlocks(run, process, path.site, path.freed, true);
  const uint64_t share = (alive.count - 1) / kMostBlocks + 1; // blocks that become one
  if (alive.count > kMostBlocks)
    run.facts.notes.push_back(
        fmt::format("{} blocks are alive, which are too many: up to {} blocks of a path are shown "
                    "as one. Their bytes are exact",
                    alive.count, share));
  for (const Path &path : paths_)
    if (path.alive.count != 0)
      addBlocks(run, process, path.site,
                {path.alive.bytes, alive.count > kMostBlocks ? (path.alive.count - 1) / share + 1 : path.alive.count},
                false);
}

} // namespace msleaks::analysis::inline importers
