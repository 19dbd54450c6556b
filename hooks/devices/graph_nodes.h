// The nodes of graphs that allocate or free memory. A graph reserves the address of such memory when the node is made.
// The memory is there from a launch until a node or the program frees it.
#pragma once

#include "msleaks/abi/symbol.h"

#include <cstdint>

namespace msleaks::hooks {

struct GraphNode {
  uint64_t address, bytes; // 0 bytes: the node frees the address
  bool frees() const { return bytes == 0; }
};

// Whether there is any node. All other functions then need not be called.
bool hasNodes() noexcept;
// Adds a node to a graph, unless the graph has it already. If there are too many nodes, the newest are not stored, and
// their memory is never there.
void addNode(abi::Family, uint64_t graph, const GraphNode &) noexcept;
// A graph that can run has the nodes of the graph that it was made from.
void copyNodes(abi::Family, uint64_t from, uint64_t to) noexcept;
// Calls f(node) for each node of the graph.
template <class F> void forEachNode(abi::Family family, uint64_t graph, F f) noexcept;
// Forgets the nodes of a graph that is gone. Calls f(node) for each address that no other graph has.
template <class F> void forgetNodes(abi::Family family, uint64_t graph, F f) noexcept;

// Returns the number of the first node from `number` on; -1: there is none.
int32_t nextNode(abi::Family, uint64_t graph, int32_t number, GraphNode &) noexcept;
// Removes the node. Returns whether no other graph allocates its address.
bool removeNode(int32_t number) noexcept;

template <class F> void forEachNode(abi::Family family, uint64_t graph, F f) noexcept {
  GraphNode node{};
  for (int32_t at = -1; hasNodes() && (at = nextNode(family, graph, at + 1, node)) >= 0;)
    f(node);
}
template <class F> void forgetNodes(abi::Family family, uint64_t graph, F f) noexcept {
  GraphNode node{};
  for (int32_t at = -1; hasNodes() && (at = nextNode(family, graph, at + 1, node)) >= 0;)
    if (removeNode(at) && !node.frees())
      f(node);
}

} // namespace msleaks::hooks
