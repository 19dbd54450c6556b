#include "graphs/spanning_tree.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace llvm;

namespace msleaks::passes {
namespace {

// The groups of nodes that the tree connects already.
class Groups {
public:
  explicit Groups(unsigned nodes) : parents_(nodes) { std::iota(parents_.begin(), parents_.end(), 0u); }
  // Returns false if both nodes are in one group already.
  bool join(unsigned left, unsigned right) {
    left = find(left);
    right = find(right);
    parents_[left] = right;
    return left != right;
  }

private:
  unsigned find(unsigned node) {
    while (parents_[node] != node)
      node = parents_[node] = parents_[parents_[node]];
    return node;
  }
  SmallVector<unsigned> parents_;
};

} // namespace

SmallVector<bool> edgesOutsideOfTree(const EdgeGraph &graph) {
  const ArrayRef<Edge> edges = graph.edges();
  SmallVector<unsigned> order(edges.size());
  std::iota(order.begin(), order.end(), 0u);
  llvm::stable_sort(order, [&](unsigned left, unsigned right) {
    return std::pair(edges[left].countable(), edges[right].weight) <
           std::pair(edges[right].countable(), edges[left].weight);
  });
  Groups groups(static_cast<unsigned>(graph.blocks().size()) + 1);
  SmallVector<bool> outside(edges.size());
  for (const unsigned edge : order)
    outside[edge] = !groups.join(edges[edge].from, edges[edge].to);
  return outside;
}

} // namespace msleaks::passes
