#include "watch_choice.h"

#include "path_tree.h"
#include "reach.h"
#include "ring.h"
#include "system.h"

#include "msleaks/runtime/caller.h"

namespace msleaks::runtime {
namespace {

constexpr uint64_t kNsPerMs = 1'000'000;
constexpr long kLookNs = 10 * kNsPerMs; // a waiting thread checks at this interval whether the collector is alive

const abi::WatchWish &wish() noexcept { return session.control->watch; }

// Whether the collector has ended. A heartbeat of 0 means that the collector is still starting. Meanwhile the program
// may already allocate.
bool hasGone() noexcept {
  return session.control->heartbeat_ns.load(std::memory_order_relaxed) != 0 && collectorGone();
}

// Asks the collector for the addresses of the watched line's code in an image. If the collector does not respond, the
// next path through this image asks again.
void ask(abi::ArenaHeader &header, bool &asked, uint32_t image) noexcept {
  if (isSandboxed())
    return;
  std::atomic<uint32_t> &word = header.watch_image;
  const uint64_t until_ns = monotonicNs() + uint64_t{10} * session.control->flags.block_timeout_ms * kNsPerMs;
  word.store(image, std::memory_order_release);
  {
    const ProcessLocked locked; // protects the path buffer of wakeCollector
    wakeCollector(*__msl_process.arena);
  }
  while (word.load(std::memory_order_acquire) != 0 && !hasGone() && monotonicNs() < until_ns) {
    const timespec look{0, kLookNs};
    callKernel(SYS_futex, &word, FUTEX_WAIT, image, &look, nullptr, 0);
  }
  asked = word.exchange(0, std::memory_order_acq_rel) == 0;
}

// Whether the call before this return address belongs to the watched line.
bool isOfLine(ChosenSites &sites, uint64_t return_address, uint32_t image) noexcept {
  if (image == 0 || image > kMaxImages)
    return false;
  abi::ArenaHeader &header = *__msl_process.arena->header;
  if (!sites.asked[image])
    ask(header, sites.asked[image], image);
  const uint32_t count = header.watch_ranges.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count && i < abi::kMaxWatchRanges; ++i)
    if (return_address - 1 >= header.watch_range[i].begin && return_address - 1 < header.watch_range[i].end)
      return true;
  return false;
}

bool isPathOfLine(ChosenSites &sites, uint32_t node) noexcept {
  const PathTree *tree = __msl_process.paths;
  for (uint32_t depth = 0; tree != nullptr && node >= abi::kFirstPath && depth < abi::kMaxPathDepth; ++depth) {
    const abi::PathNode &call = tree->nodeAt(node);
    if (call.image != abi::kImageOfSite && isOfLine(sites, call.address, call.image))
      return true;
    node = call.parent;
  }
  return false;
}

bool isSiteOfLine(ChosenSites &sites, uint32_t site) noexcept {
  if (const abi::Caller *callers = __msl_process.callers; (site & abi::kCallerSite) != 0 && callers != nullptr) {
    const abi::Caller &caller = callers[(site & ~abi::kCallerSite) % abi::kMaxCallers];
    return isOfLine(sites, caller.address.load(std::memory_order_acquire) & ~abi::kRetiredCaller, caller.image);
  }
  return (site & abi::kPathSite) != 0 && isPathOfLine(sites, site & ~abi::kPathSite);
}

bool isKnownOfLine(ChosenSites &sites, uint32_t site) noexcept {
  std::atomic<uint64_t> &known = sites.known[site % kKnownSites];
  if (const uint64_t entry = known.load(std::memory_order_relaxed); entry >> 1 == site)
    return (entry & 1) != 0;
  const ErrnoKept errno_kept;
  const SignalsBlocked blocked;
  const Locked locked(sites.lock);
  if (!locked)
    return false;
  const bool is_of_line = isSiteOfLine(sites, site);
  known.store(uint64_t{site} << 1 | (is_of_line ? 1 : 0), std::memory_order_relaxed);
  return is_of_line;
}

} // namespace

bool choosesBlocks() noexcept {
  return session.control != nullptr && (wish().kind == abi::WatchKind::Address || wish().kind == abi::WatchKind::Line);
}

bool isChosen(ChosenSites &sites, uint64_t address, uint32_t site) noexcept {
  if (wish().kind == abi::WatchKind::Address)
    return address == wish().address;
  return site != 0 && __msl_process.arena != nullptr && isKnownOfLine(sites, site);
}

} // namespace msleaks::runtime
