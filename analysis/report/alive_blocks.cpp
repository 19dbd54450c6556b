#include "alive_blocks.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace msleaks::analysis {
namespace {

bool isLarger(const Block &a, const Block &b) {
  return a.bytes() != b.bytes() ? a.bytes() > b.bytes() : a.time_ns < b.time_ns;
}

// The gaps between the parts of a block, which are in order of address.
uint64_t largestGap(const Block &whole, const std::vector<const Block *> &parts) {
  uint64_t gap = 0, reached = whole.address;
  for (const Block *part : parts) {
    gap = std::max(gap, part->address > reached ? part->address - reached : 0);
    reached = std::max(reached, part->address + part->size);
  }
  const uint64_t end = whole.address + whole.size;
  return std::max(gap, end > reached ? end - reached : 0);
}

using PartsOf = std::map<const Block *, std::vector<const Block *>>;

// Parts, in order of address, by the innermost block that holds each. A block begins before what it holds, so those
// that are open at an address lie in each other.
PartsOf partsByWhole(std::vector<Block> &parts, std::vector<Block> &wholes) {
  const auto isBefore = [](const Block &a, const Block &b) {
    return std::tuple(a.process, a.address, b.size) < std::tuple(b.process, b.address, a.size);
  };
  std::sort(parts.begin(), parts.end(), isBefore);
  std::sort(wholes.begin(), wholes.end(), isBefore);
  PartsOf found;
  std::vector<const Block *> open;
  auto next = wholes.begin();
  for (const Block &part : parts) {
    const std::pair at(part.process, part.address);
    for (; next != wholes.end() && std::pair(next->process, next->address) <= at; ++next)
      open.push_back(&*next);
    while (!open.empty() &&
           (open.back()->process != part.process || part.address - open.back()->address >= open.back()->size))
      open.pop_back();
    if (!open.empty())
      found[open.back()].push_back(&part);
  }
  return found;
}

} // namespace

void AliveBlocks::onEvent(const StreamEvent &event, SiteId site) {
  if (refused_ && event.process == refused_->process && event.stream == refused_->stream &&
      event.event.header().time == refused_->time_ns)
    refused_site_ = site;
}

// Four times as many are kept before the rest goes, so that each costs little.
void AliveBlocks::keep(std::vector<Alive> &list, const Alive &alive, Order isBefore) const {
  list.push_back(alive);
  if (list.size() < 4 * most_ + 4)
    return;
  std::nth_element(list.begin(), list.begin() + static_cast<ptrdiff_t>(most_), list.end(), isBefore);
  list.resize(most_);
}

constexpr auto kLargestFirst = [](const auto &a, const auto &b) { return isLarger(a.block, b.block); };
constexpr auto kOldestFirst = [](const auto &a, const auto &b) {
  return a.age_ns != b.age_ns ? a.age_ns > b.age_ns : isLarger(a.block, b.block);
};

void AliveBlocks::onFree(const Block &block, FreeCause cause, uint64_t time_ns) {
  if ((cause != FreeCause::StillAlive && cause != FreeCause::ProcessKilled) || block.bytes() == 0)
    return;
  const Alive alive{block, time_ns > block.time_ns ? time_ns - block.time_ns : 0};
  keep(largest_, alive, kLargestFirst);
  keep(oldest_, alive, kOldestFirst);
  if (refused_ && refused_->heap == abi::Heap::Pool)
    (block.heap == abi::Heap::Pool ? parts_ : wholes_).push_back(block);
}

std::vector<AliveBlock> AliveBlocks::named(std::vector<Alive> list, Order isBefore, Conclusion &conclusion) const {
  std::sort(list.begin(), list.end(), isBefore);
  list.resize(std::min(list.size(), most_));
  std::vector<AliveBlock> blocks;
  for (const auto &[block, age_ns] : list) {
    const auto process =
        std::find_if(conclusion.processes.begin(), conclusion.processes.end(),
                     [&](const ReportProcess &candidate) { return candidate.process == block.process; });
    blocks.push_back({block.bytes(), age_ns, block.heap, block.device,
                      process == conclusion.processes.end() ? 0 : process->pid,
                      textOf(conclusion.catalog, conclusion.lines.places().of(block.site))});
  }
  return blocks;
}

// Of the pieces that a pool hands out parts of, those that it has handed out something of: another one looks like any
// block.
Hole AliveBlocks::hole() const {
  if (refused_->heap == abi::Heap::Host)
    return {{}, "where the C library and the kernel have room, and their limits, are not recorded"};
  if (refused_->heap != abi::Heap::Pool)
    return {{}, "where the driver or the kernel has room is not recorded"};
  std::vector<Block> parts = parts_, wholes = wholes_;
  const PartsOf parts_of = partsByWhole(parts, wholes);
  if (parts_of.empty())
    return {{}, "the blocks that the pool hands out parts of are not known"};
  uint64_t largest = 0;
  for (const auto &[whole, inside] : parts_of)
    largest = std::max(largest, largestGap(*whole, inside));
  return {largest, {}};
}

void AliveBlocks::conclude(Conclusion &conclusion) const {
  to_.largest = named(largest_, kLargestFirst, conclusion);
  to_.oldest = named(oldest_, kOldestFirst, conclusion);
  if (!refused_)
    return;
  to_.hole = hole();
  if (refused_site_.known()) {
    const SiteShare share{refused_site_, to_.refused->bytes, 1};
    to_.refused->place = conclusion.lines.bySite({&share, 1}, Lines::Paths::Shown);
  }
}

} // namespace msleaks::analysis
