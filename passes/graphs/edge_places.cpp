#include "graphs/edge_places.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"

#include <iterator>

using namespace llvm;

namespace msleaks::passes {
namespace {

using abi::EdgeKind;

// Returns "edge2_5", or "edge2_5.2" for the second edge between the same two blocks.
std::string nameOf(const Edge &edge) {
  const std::string name = ("edge" + Twine(edge.from) + "_" + Twine(edge.to)).str();
  return edge.ordinal <= 1 ? name : (name + "." + Twine(edge.ordinal)).str();
}

// Inserts a new block on the edge. If the terminator has several edges to one block, the entries of these edges in a
// phi have the same value. So any of these entries can become the entry for the new block.
Instruction &between(Instruction &terminator, const Edge &edge) {
  BasicBlock &from = *terminator.getParent(), &to = *terminator.getSuccessor(edge.successor);
  BasicBlock *middle = BasicBlock::Create(from.getContext(), nameOf(edge), from.getParent(), from.getNextNode());
  BranchInst *jump = BranchInst::Create(&to, middle);
  jump->setDebugLoc(terminator.getDebugLoc());
  if (MDNode *loop = terminator.getMetadata(LLVMContext::MD_loop)) // loop metadata belongs to the back edge, now `jump`
    jump->setMetadata(LLVMContext::MD_loop, loop);
  terminator.setSuccessor(edge.successor, middle);
  for (PHINode &phi : to.phis())
    phi.setIncomingBlock(static_cast<unsigned>(phi.getBasicBlockIndex(&from)), middle);
  return *jump;
}

} // namespace

Instruction &placeOn(const EdgeGraph &graph, const Edge &edge, bool always_between) {
  if (edge.kind == EdgeKind::Enter)
    return *graph.block(1).getFirstInsertionPt();
  Instruction &terminator = *graph.block(edge.from).getTerminator();
  if (edge.kind == EdgeKind::Exit) {
    CallInst *tail = graph.block(edge.from).getTerminatingMustTailCall();
    return tail ? *static_cast<Instruction *>(tail) : terminator;
  }
  if (edge.spot == EdgeSpot::Between || (always_between && edge.splits))
    return between(terminator, edge);
  return edge.spot == EdgeSpot::End ? terminator : *graph.block(edge.to).getFirstInsertionPt();
}

} // namespace msleaks::passes
