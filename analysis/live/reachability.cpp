#include "analysis/live/reachability.h"

#include "analysis/base/text.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace msleaks::analysis::inline live {
namespace {

// If several kinds of roots reach a block, a report names the first kind in this order, since it explains most.
constexpr std::array kRootOrder{RegionUse::Globals, RegionUse::ThreadLocal, RegionUse::Stack, RegionUse::Registers,
                                RegionUse::Other};

// A pointer into a block is less than this, counted from the block's start. An empty block counts as one byte. An array
// without elements may consist only of a count of 8 bytes, and the program keeps a pointer after it.
uint64_t reachOf(const Block &block) {
  constexpr uint64_t kArrayCookie = 8;
  return block.size == kArrayCookie ? kArrayCookie + 1 : std::max<uint64_t>(block.size, 1);
}

// In this memory glibc's malloc keeps lists of free chunks, by their addresses. A chunk begins with eight bytes that
// the block before may use. So the address of a free chunk may be inside a block.
bool isLibc(const MemoryRegion &region) {
  return region.use == RegionUse::Globals && baseName(region.image.path).starts_with("libc.so");
}
bool isBeginOfChunkBehind(const Block &block, uint64_t address) {
  constexpr uint64_t kHeader = 8, kAlignment = 16, kLeastChunk = 32;
  const uint64_t chunk = std::max((block.size + kHeader + kAlignment - 1) / kAlignment * kAlignment, kLeastChunk);
  return spaceOf(block.heap) == AddressSpace::Host && address == block.address + chunk - kAlignment;
}

std::vector<uint64_t> addressesOf(const std::vector<Block> &blocks) {
  std::vector<uint64_t> addresses;
  addresses.reserve(blocks.size());
  for (const Block &block : blocks)
    addresses.push_back(block.address);
  return addresses;
}

} // namespace

const char *nameOf(Reach reach) {
  switch (reach) {
  case Reach::Lost:
    return "lost";
  case Reach::Indirect:
    return "indirect";
  case Reach::Held:
    return "held";
  case Reach::Unknown:
    return "unknown";
  }
  return "";
}

// Sorts pointers: inside of blocks, or outside.
class Reachability::Reading {
public:
  Reading(const Reachability &graph) : graph_(graph) {}

  void take(const Pointer &pointer) {
    const uint32_t to = graph_.nodeHolding(addressOf(pointer.to));
    if (to == kNone)
      return;
    if (isTagged(pointer.to))
      return tagged.push_back({pointer.at, to});
    const RegionUse use = useOf(pointer.at);
    if (region_ && isLibc(*region_) && isBeginOfChunkBehind(graph_.blocks_[to], pointer.to))
      return;
    const bool in_memory_of_blocks = use == RegionUse::Heap || use == RegionUse::Other;
    const uint32_t from = in_memory_of_blocks ? graph_.nodeHolding(pointer.at) : kNone;
    if (from != kNone)
      addEdge(from, to, pointer.at);
    else
      (use == RegionUse::Heap ? outside : roots[static_cast<size_t>(use)]).push_back({pointer.at, to});
  }

  std::array<std::vector<RootWord>, static_cast<size_t>(RegionUse::Other) + 1> roots;
  std::vector<RootWord> outside; // in the heap, outside of blocks
  std::vector<RootWord> tagged;  // words with tags, in any memory
  std::vector<Edge> edges;

private:
  RegionUse useOf(uint64_t address) {
    if (region_ == nullptr || address < region_->begin || address >= region_->end)
      region_ = graph_.regionOf(address); // null: no region
    return region_ ? region_->use : RegionUse::Other;
  }
  void addEdge(uint32_t from, uint32_t to, uint64_t at) {
    const uint64_t words = (at - graph_.blocks_[from].address) / sizeof(uint64_t);
    if (from != to)
      edges.push_back({from, to, static_cast<uint32_t>(std::min<uint64_t>(words, kWhole - 1))});
  }

  const Reachability &graph_;
  const MemoryRegion *region_ = nullptr;
};

Reachability::Reachability(const BlocksByProcess &live, const PointedMemory &memory) : map_(memory.map()) {
  takeBlocks(live);
  Reading reading(*this);
  memory.forEachPointer([&](const Pointer &pointer) { reading.take(pointer); });
  for (uint32_t node = 0; node < heap_.size(); ++node) // a pointer to a part holds the whole mapping
    if (const uint32_t whole = mappingHolding(blocks_[node].address); whole != kNone)
      reading.edges.push_back({node, whole, kWhole});
  takeEdges(std::move(reading.edges));
  for (const RegionUse use : kRootOrder)
    floodFrom(reading.roots[static_cast<size_t>(use)], Reach::Held);
  floodFrom(reading.tagged, Reach::Unknown);
  if (!map_.all_blocks)
    floodFrom(reading.outside, Reach::Unknown);
  if (map_.why_not.empty())
    findLost();
  edges_ = {};
  first_edge_ = {};
  queue_ = {};
}

void Reachability::takeBlocks(const BlocksByProcess &live) {
  std::vector<Block> mappings;
  live.forEachOf(map_.process, [&](const Block &block) {
    if (block.reserve)
      return;
    if (spaceOf(block.heap) == AddressSpace::Host)
      blocks_.push_back(block);
    else if (spaceOf(block.heap) == AddressSpace::Mapping)
      mappings.push_back(block);
  });
  const auto byAddress = [](const Block &a, const Block &b) { return a.address < b.address; };
  std::sort(blocks_.begin(), blocks_.end(), byAddress);
  std::sort(mappings.begin(), mappings.end(), byAddress);
  heap_ = SortedAddresses(addressesOf(blocks_));
  mappings_ = SortedAddresses(addressesOf(mappings));
  blocks_.insert(blocks_.end(), mappings.begin(), mappings.end());
  reach_.assign(blocks_.size(), Reach::Unknown);
  visited_.assign(blocks_.size(), false);
  parents_.assign(blocks_.size(), {});
  heads_.assign(blocks_.size(), kNone);
}

// Returns the last block that begins at or before the address, if the address is in its reach. Nodes of these blocks
// begin at `first`.
uint32_t Reachability::nodeAmong(const SortedAddresses &begins, size_t first, uint64_t address) const {
  const size_t count = begins.countUntil(address);
  const size_t node = first + count - 1;
  return count > 0 && address - blocks_[node].address < reachOf(blocks_[node]) ? static_cast<uint32_t>(node) : kNone;
}

// Returns the innermost block that contains the address.
uint32_t Reachability::nodeHolding(uint64_t address) const {
  const uint32_t node = nodeAmong(heap_, 0, address);
  return node == kNone ? mappingHolding(address) : node;
}

uint32_t Reachability::mappingHolding(uint64_t address) const { return nodeAmong(mappings_, heap_.size(), address); }

uint32_t Reachability::nodeOf(const Block &block) const {
  const bool in_heap = spaceOf(block.heap) == AddressSpace::Host;
  const size_t first = in_heap ? 0 : heap_.size();
  const size_t count = (in_heap ? heap_ : mappings_).countUntil(block.address);
  if (count == 0)
    return kNone;
  const auto node = static_cast<uint32_t>(first + count - 1);
  const Block &found = blocks_[node];
  return found.address == block.address && found.id == block.id && found.time_ns == block.time_ns ? node : kNone;
}

const MemoryRegion *Reachability::regionOf(uint64_t address) const {
  const auto behind = std::upper_bound(map_.regions.begin(), map_.regions.end(), address,
                                       [](uint64_t at, const MemoryRegion &region) { return at < region.begin; });
  return behind != map_.regions.begin() && address < std::prev(behind)->end ? &*std::prev(behind) : nullptr;
}

// Sorts the edges in place by `from`, then by `offset`. There may be millions, and most are in place already.
void Reachability::takeEdges(std::vector<Edge> &&edges) {
  edges_ = std::move(edges);
  first_edge_.assign(blocks_.size() + 1, 0);
  for (const Edge &edge : edges_)
    ++first_edge_[edge.from + 1];
  std::partial_sum(first_edge_.begin(), first_edge_.end(), first_edge_.begin());
  std::vector<uint64_t> next(first_edge_.begin(), first_edge_.end() - 1);
  for (uint32_t node = 0; node < next.size(); ++node) {
    while (next[node] < first_edge_[node + 1]) {
      Edge edge = edges_[next[node]];
      while (edge.from != node)
        std::swap(edge, edges_[next[edge.from]++]);
      edges_[next[node]++] = edge;
    }
    const auto begin = edges_.begin();
    std::sort(begin + static_cast<ptrdiff_t>(first_edge_[node]), begin + static_cast<ptrdiff_t>(first_edge_[node + 1]),
              [](const Edge &a, const Edge &b) { return a.offset < b.offset; });
  }
}

// Visits the blocks that the queue's blocks reach, by the shortest paths.
void Reachability::flood(Reach reach) {
  for (size_t i = 0; i < queue_.size(); ++i) {
    const uint32_t node = queue_[i];
    for (uint64_t e = first_edge_[node]; e < first_edge_[node + 1]; ++e) {
      const Edge &edge = edges_[e];
      if (visited_[edge.to])
        continue;
      visited_[edge.to] = true;
      reach_[edge.to] = reach;
      heads_[edge.to] = heads_[node];
      const bool whole = edge.offset == kWhole;
      parents_[edge.to] = {blocks_[node].address + (whole ? 0 : edge.offset * sizeof(uint64_t)), node, whole};
      queue_.push_back(edge.to);
    }
  }
  queue_.clear();
}

void Reachability::floodFrom(const std::vector<RootWord> &roots, Reach reach) {
  for (const RootWord &word : roots)
    if (!visited_[word.to]) {
      visited_[word.to] = true;
      reach_[word.to] = reach;
      parents_[word.to] = {word.at, kNone};
      queue_.push_back(word.to);
    }
  flood(reach);
}

std::vector<bool> Reachability::pointedToByOthers() const {
  std::vector<bool> pointed_to(blocks_.size());
  for (const Edge &edge : edges_)
    if (!visited_[edge.from])
      pointed_to[edge.to] = true;
  return pointed_to;
}

void Reachability::takeHead(uint32_t node) {
  visited_[node] = true;
  reach_[node] = Reach::Lost;
  heads_[node] = node;
  queue_.push_back(node);
}

// Heads are the lost blocks to which no other lost block points, and the oldest block of each lost cycle.
void Reachability::findLost() {
  const std::vector<bool> pointed_to = pointedToByOthers();
  for (uint32_t node = 0; node < blocks_.size(); ++node)
    if (!visited_[node] && !pointed_to[node])
      takeHead(node);
  flood(Reach::Indirect);
  const std::vector<uint32_t> finished = circlesByFinish();
  for (auto node = finished.rbegin(); node != finished.rend(); ++node)
    if (!visited_[*node]) {
      takeHead(*node);
      flood(Reach::Indirect);
    }
}

// The remaining blocks form cycles, or cycles lead to them. They are in the order in which a depth-first search from
// the oldest block finishes them. If nothing else leads to a cycle, its oldest block finishes last.
std::vector<uint32_t> Reachability::circlesByFinish() const {
  std::vector<uint32_t> rest, finished;
  for (uint32_t node = 0; node < blocks_.size(); ++node)
    if (!visited_[node])
      rest.push_back(node);
  std::sort(rest.begin(), rest.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(blocks_[a].time_ns, a) < std::pair(blocks_[b].time_ns, b);
  });
  std::vector<bool> entered = visited_;
  struct Open {
    uint32_t node;
    uint64_t next_edge;
  };
  std::vector<Open> open;
  const auto enter = [&](uint32_t node) {
    if (entered[node])
      return;
    entered[node] = true;
    open.push_back({node, first_edge_[node]});
  };
  for (const uint32_t oldest : rest)
    for (enter(oldest); !open.empty();) {
      Open &last = open.back();
      if (last.next_edge < first_edge_[last.node + 1]) {
        enter(edges_[last.next_edge++].to);
        continue;
      }
      finished.push_back(last.node);
      open.pop_back();
    }
  return finished;
}

Reach Reachability::of(const Block &block) const {
  const uint32_t node = nodeOf(block);
  return node == kNone ? Reach::Unknown : reach_[node];
}

const Block *Reachability::headOf(const Block &block) const {
  const uint32_t node = nodeOf(block);
  return node == kNone || reach_[node] != Reach::Indirect ? nullptr : &blocks_[heads_[node]];
}

bool Reachability::isHeldByLibc(const Block &block) const {
  const uint32_t node = nodeOf(block);
  if (node == kNone || reach_[node] != Reach::Held || parents_[node].node != kNone)
    return false;
  const MemoryRegion *region = regionOf(parents_[node].at);
  return region && isLibc(*region);
}

Holders Reachability::holdersOf(const Block &block) const {
  constexpr size_t kMostLinks = 8;
  Holders holders;
  const uint32_t node = nodeOf(block);
  if (node == kNone || (reach_[node] != Reach::Held && reach_[node] != Reach::Indirect))
    return holders;
  uint32_t at = node;
  for (; parents_[at].node != kNone; at = parents_[at].node) {
    const Parent &parent = parents_[at];
    const Holders::Link link{blocks_[parent.node].site, parent.at - blocks_[parent.node].address, 1, parent.whole};
    if (!holders.links.empty() && holders.links.back().site == link.site && holders.links.back().offset == link.offset)
      ++holders.links.back().count;
    else
      holders.links.push_back(link);
  }
  if (reach_[node] == Reach::Held)
    if (const MemoryRegion *region = regionOf(parents_[at].at))
      holders.root = {*region, parents_[at].at};
  std::reverse(holders.links.begin(), holders.links.end());
  if (holders.links.size() > kMostLinks) {
    const auto first = holders.links.begin() + kMostLinks / 2, last = holders.links.end() - kMostLinks / 2;
    for (auto link = first; link != last; ++link)
      holders.left_out += link->count;
    holders.links.erase(first, last);
  }
  return holders;
}

} // namespace msleaks::analysis::inline live
