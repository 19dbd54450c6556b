#include "devices/graph_nodes.h"

#include <atomic>

namespace msleaks::hooks {
namespace {

struct Entry {
  std::atomic<uint64_t> graph; // 0 = free, kTaken = another thread fills it
  GraphNode node;
};
constexpr uint64_t kTaken = 1;
constexpr int32_t kEntries = 4096;
constinit Entry entries[kEntries] = {};
constinit std::atomic<int32_t> count{0}; // number of nodes
constinit std::atomic<int32_t> end{0};   // all later entries are free

uint64_t keyOfGraph(abi::Family family, uint64_t graph) noexcept {
  return graph ^ (static_cast<uint64_t>(family) + 1) << 56;
}

bool hasNode(uint64_t key, const GraphNode &node) noexcept {
  for (int32_t at = 0; at < end.load(std::memory_order_acquire); ++at)
    if (entries[at].graph.load(std::memory_order_acquire) == key && entries[at].node.address == node.address &&
        entries[at].node.frees() == node.frees())
      return true;
  return false;
}

void add(uint64_t key, const GraphNode &node) noexcept {
  if (hasNode(key, node))
    return;
  for (int32_t at = 0; at < kEntries; ++at) {
    uint64_t none = 0;
    if (!entries[at].graph.compare_exchange_strong(none, kTaken))
      continue;
    entries[at].node = node;
    entries[at].graph.store(key, std::memory_order_release);
    count.fetch_add(1, std::memory_order_relaxed);
    int32_t last = end.load(std::memory_order_relaxed);
    while (last <= at && !end.compare_exchange_weak(last, at + 1, std::memory_order_release)) {
    }
    return;
  }
}

int32_t nextOf(uint64_t key, int32_t number, GraphNode &node) noexcept {
  for (; number < end.load(std::memory_order_acquire); ++number)
    if (entries[number].graph.load(std::memory_order_acquire) == key) {
      node = entries[number].node;
      return number;
    }
  return -1;
}

} // namespace

bool hasNodes() noexcept { return count.load(std::memory_order_relaxed) != 0; }

void addNode(abi::Family family, uint64_t graph, const GraphNode &node) noexcept {
  add(keyOfGraph(family, graph), node);
}

void copyNodes(abi::Family family, uint64_t from, uint64_t to) noexcept {
  GraphNode node{};
  for (int32_t at = -1; hasNodes() && (at = nextOf(keyOfGraph(family, from), at + 1, node)) >= 0;)
    add(keyOfGraph(family, to), node);
}

int32_t nextNode(abi::Family family, uint64_t graph, int32_t number, GraphNode &node) noexcept {
  return nextOf(keyOfGraph(family, graph), number, node);
}

bool removeNode(int32_t number) noexcept {
  const GraphNode node = entries[number].node;
  entries[number].graph.store(0, std::memory_order_release);
  count.fetch_sub(1, std::memory_order_relaxed);
  for (int32_t at = 0; at < end.load(std::memory_order_acquire); ++at)
    if (entries[at].graph.load(std::memory_order_acquire) > kTaken && entries[at].node.address == node.address &&
        !entries[at].node.frees())
      return false;
  return true;
}

} // namespace msleaks::hooks
