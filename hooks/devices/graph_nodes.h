// The nodes of graphs that allocate or free memory. A graph reserves the address of such memory when the node is made.
// The memory is there from a launch until a node or the program frees it. A fork's child has no nodes.
#pragma once

#include "counting/counted_kernels.h"

#include "msleaks/abi/symbol.h"

#include <cstdint>

namespace msleaks::hooks {

struct GraphNode {
  uint64_t address, bytes; // 0 bytes: the node frees the address
  GraphNode *next = nullptr;
  bool frees() const { return bytes == 0; }
};

// Whether there is any node. All other functions then need not be called.
bool hasNodes() noexcept;
// Adds a node to a graph, unless it is the graph's newest node already: a runtime library calls the driver.
void addNode(abi::Family, uint64_t graph, const GraphNode &) noexcept;
// A graph that can run has the nodes of the graph that it was made from.
void copyNodes(abi::Family, uint64_t from, uint64_t to) noexcept;

// Returns the newest node of a graph; null: there is none. Hold CountedLock.
const GraphNode *nodesOf(abi::Family, uint64_t graph) noexcept;
// Removes the newest node of a graph. `is_last`: no other graph allocates its address. False: there is no node. Hold
// CountedLock.
bool takeNode(abi::Family, uint64_t graph, GraphNode &node, bool &is_last) noexcept;

// Calls f(node) for each node of the graph.
template <class F> void forEachNode(abi::Family family, uint64_t graph, F f) noexcept {
  if (!hasNodes())
    return;
  const CountedLock lock;
  for (const GraphNode *node = nodesOf(family, graph); node != nullptr; node = node->next)
    f(*node);
}
// Forgets the nodes of a graph that is gone. Calls f(node) for each address that no other graph has.
template <class F> void forgetNodes(abi::Family family, uint64_t graph, F f) noexcept {
  if (!hasNodes())
    return;
  const CountedLock lock;
  bool is_last = false;
  for (GraphNode node{}; takeNode(family, graph, node, is_last);)
    if (is_last)
      f(node);
}

} // namespace msleaks::hooks
