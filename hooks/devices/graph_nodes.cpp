#include "devices/graph_nodes.h"

#include "counting/handle_table.h"

namespace msleaks::hooks {
namespace {

struct Graph {
  Handle handle;
  GraphNode *nodes;
  Graph *next;
};
struct Address {
  Handle handle;
  uint32_t graphs; // how many graphs allocate it
  Address *next;
};
struct Nodes {
  HandleTable<Graph> graphs;
  HandleTable<Address> addresses;
  GraphNode *unused;
};
constinit Wiped<Nodes> all_nodes;

GraphNode *newNode(Nodes &nodes) noexcept {
  GraphNode *const node = nodes.unused;
  if (node == nullptr)
    return static_cast<GraphNode *>(keep(sizeof(GraphNode)));
  nodes.unused = node->next;
  return node;
}

void add(Nodes &nodes, abi::Family family, uint64_t graph, const GraphNode &node) noexcept {
  Graph *owner = nodes.graphs.find(keyOf(family, graph));
  if (owner == nullptr)
    owner = nodes.graphs.add({keyOf(family, graph), nullptr, nullptr});
  GraphNode *const added = owner != nullptr ? newNode(nodes) : nullptr;
  if (added == nullptr)
    return;
  *added = {node.address, node.bytes, owner->nodes};
  owner->nodes = added;
  if (node.frees())
    return;
  const Handle address = keyOf(family, node.address);
  Address *known = nodes.addresses.find(address);
  if (known == nullptr)
    known = nodes.addresses.add({address, 0, nullptr});
  if (known != nullptr)
    ++known->graphs;
}

} // namespace

bool hasNodes() noexcept {
  const Nodes *const nodes = all_nodes.get();
  return nodes != nullptr && nodes->graphs.hasAny();
}

void addNode(abi::Family family, uint64_t graph, const GraphNode &node) noexcept {
  const CountedLock lock;
  Nodes *const nodes = lock ? all_nodes.make() : nullptr;
  const GraphNode *const newest = nodes != nullptr ? nodesOf(family, graph) : nullptr;
  if (nodes != nullptr && (newest == nullptr || newest->address != node.address || newest->frees() != node.frees()))
    add(*nodes, family, graph, node);
}

void copyNodes(abi::Family family, uint64_t from, uint64_t to) noexcept {
  const CountedLock lock;
  if (nodesOf(family, to) != nullptr) // the driver's function has copied them
    return;
  for (const GraphNode *node = nodesOf(family, from); node != nullptr; node = node->next)
    add(*all_nodes.get(), family, to, *node);
}

const GraphNode *nodesOf(abi::Family family, uint64_t graph) noexcept {
  const Nodes *const nodes = all_nodes.get();
  const Graph *const known = nodes != nullptr ? nodes->graphs.find(keyOf(family, graph)) : nullptr;
  return known != nullptr ? known->nodes : nullptr;
}

bool takeNode(abi::Family family, uint64_t graph, GraphNode &node, bool &is_last) noexcept {
  Nodes &nodes = *all_nodes.get();
  Graph *const owner = nodes.graphs.find(keyOf(family, graph));
  if (owner == nullptr)
    return false;
  GraphNode *const taken = owner->nodes;
  node = *taken;
  owner->nodes = taken->next;
  taken->next = nodes.unused;
  nodes.unused = taken;
  if (owner->nodes == nullptr)
    nodes.graphs.forget(owner->handle);
  Address *const address = node.frees() ? nullptr : nodes.addresses.find(keyOf(family, node.address));
  is_last = address != nullptr && --address->graphs == 0;
  if (is_last)
    nodes.addresses.forget(address->handle);
  return true;
}

} // namespace msleaks::hooks
