#include "graphs/edge_counters.h"

#include "compat.h"
#include "graphs/edge_places.h"
#include "graphs/spanning_tree.h"

#include "llvm/ADT/Statistic.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

#define DEBUG_TYPE "msleaks"

using namespace llvm;

ALWAYS_ENABLED_STATISTIC(CountedEdges, "Edges of counted functions");
ALWAYS_ENABLED_STATISTIC(Counters, "Counters on edges of counted functions");

namespace msleaks::passes {

SmallVector<EdgeCount> chooseCounters(const EdgeGraph &graph, bool all, uint32_t &next) {
  const SmallVector<bool> needed = edgesOutsideOfTree(graph);
  SmallVector<EdgeCount> counts;
  for (const auto &[edge, needs] : zip_equal(graph.edges(), needed)) {
    const bool is_counted = edge.countable() && (needs || all);
    counts.push_back({.counter = is_counted ? next++ : abi::kNoCounter,
                      .flags = needs && !edge.countable() ? uint8_t{abi::kUnknown} : uint8_t{0}});
    ++CountedEdges;
    Counters += is_counted;
  }
  return counts;
}

SmallVector<CounterPlace> placesOf(Instruction &begin, const EdgeGraph &graph, ArrayRef<EdgeCount> counts, bool all) {
  SmallVector<CounterPlace> places;
  for (const auto &[edge, count] : zip_equal(graph.edges(), counts))
    if (count.counter != abi::kNoCounter) {
      Instruction &place = edge.kind == abi::EdgeKind::Enter ? begin : placeOn(graph, edge, all);
      places.push_back({&place, static_cast<uint32_t>(places.size())});
    }
  return places;
}

Instruction &firstBehindAllocas(Function &function) {
  BasicBlock &entry = function.getEntryBlock();
  Instruction *begin = &*entry.getFirstInsertionPt();
  while (isa<AllocaInst>(begin))
    begin = begin->getNextNode();
  for (Instruction &instruction : make_early_inc_range(make_range(begin->getIterator(), entry.end())))
    if (auto *slot = dyn_cast<AllocaInst>(&instruction); slot && slot->isStaticAlloca())
      slot->moveBefore(entry, begin->getIterator());
  return *begin;
}

} // namespace msleaks::passes
