#include "graphs/edge_graph.h"

#include "compat.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

using abi::EdgeKind;

EdgeKind kindOf(const Instruction &terminator, unsigned successor) {
  if (isa<SwitchInst>(terminator))
    return successor == 0 ? EdgeKind::Default : EdgeKind::Switch;
  if (isa<IndirectBrInst>(terminator) || (isa<CallBrInst>(terminator) && successor != 0))
    return EdgeKind::Indirect;
  return terminator.getSuccessor(successor)->isEHPad() ? EdgeKind::Unwind : EdgeKind::Branch;
}

int64_t valueOf(const Instruction &terminator, unsigned successor) {
  const auto *choice = dyn_cast<SwitchInst>(&terminator);
  if (!choice || successor == 0)
    return 0;
  const APInt &value = (choice->case_begin() + (successor - 1))->getCaseValue()->getValue();
  return value.getSignificantBits() <= 64 ? value.getSExtValue() : 0;
}

bool hasStart(const BasicBlock &block) { return block.getFirstInsertionPt() != block.end(); }

// Whether a new block may be inserted between the two blocks.
bool canBeSplit(const Instruction &terminator, unsigned successor) {
  if (terminator.getSuccessor(successor)->isEHPad())
    return false;
  return isa<BranchInst>(terminator) || isa<SwitchInst>(terminator) || isa<InvokeInst>(terminator) ||
         (isa<CallBrInst>(terminator) && successor == 0);
}

bool endsUnreachable(const BasicBlock &block) { return isa<UnreachableInst>(block.getTerminator()); }

bool hasCallThatMayNotComeBack(const BasicBlock &block) {
  for (const Instruction &instruction : block)
    if (const auto *call = dyn_cast<CallBase>(&instruction); call && mayNotComeBack(*call))
      return true;
  return false;
}

} // namespace

// In a function that calls setjmp, any call may jump back to the setjmp.
bool mayNotComeBack(const CallBase &call) {
  if (call.isMustTailCall() || isa<InlineAsm>(call.getCalledOperand()))
    return false;
  return call.mayThrow() || call.doesNotReturn() || call.hasFnAttr(Attribute::ReturnsTwice) ||
         (call.getFunction()->callsFunctionThatReturnsTwice() && !isa<IntrinsicInst>(call));
}

bool surelyComesBack(const CallBase &call) {
  return (call.willReturn() && !mayNotComeBack(call)) || isa<InlineAsm>(call.getCalledOperand());
}

EdgeGraph::EdgeGraph(Function &function, const BlockFrequencyInfo &frequencies,
                     const BranchProbabilityInfo &probabilities, Calls calls) {
  const ReversePostOrderTraversal<Function *> forwards(&function);
  for (BasicBlock *block : forwards)
    number(*block);
  for (BasicBlock &block : function) // numbers unreachable blocks last
    if (numbers_.count(&block) == 0)
      number(block);
  incoming_.resize(blocks_.size() + 1);
  add({.from = 0, .to = 1, .kind = EdgeKind::Enter, .weight = entryFrequencyOf(frequencies)});
  for (unsigned from = 1; from <= blocks_.size(); ++from) {
    const uint64_t frequency = frequencies.getBlockFreq(&block(from)).getFrequency();
    addSuccessors(from, probabilities, frequency);
    addWaysOut(from, frequency, calls);
  }
  for (Edge &edge : edges_)
    edge.spot = spotOf(edge);
}

void EdgeGraph::weighAsKernel() {
  constexpr uint64_t kLess = 8;
  edges_.front().weight = 0;
  for (Edge &edge : edges_)
    if (edge.from != 0 && edge.to != 0 && block(edge.from).getTerminator()->getNumSuccessors() > 1 &&
        isa<ReturnInst>(firstBehindPhis(block(edge.to))))
      edge.weight -= edge.weight / kLess;
}

void EdgeGraph::number(BasicBlock &block) {
  blocks_.push_back(&block);
  numbers_[&block] = static_cast<unsigned>(blocks_.size());
}

void EdgeGraph::addSuccessors(unsigned from, const BranchProbabilityInfo &probabilities, uint64_t frequency) {
  const Instruction &terminator = *block(from).getTerminator();
  for (unsigned i = 0; i < terminator.getNumSuccessors(); ++i)
    add({.from = from,
         .to = numbers_.lookup(terminator.getSuccessor(i)),
         .successor = i,
         .kind = kindOf(terminator, i),
         .value = valueOf(terminator, i),
         .weight = probabilities.getEdgeProbability(&block(from), i).scale(frequency),
         .splits = canBeSplit(terminator, i)});
}

// Adds the edges that leave the function from this block.
void EdgeGraph::addWaysOut(unsigned from, uint64_t frequency, Calls calls) {
  const bool is_unreachable = endsUnreachable(block(from));
  if (is_unreachable || (calls == Calls::MayNotComeBack && hasCallThatMayNotComeBack(block(from))))
    add({.from = from, .to = 0, .kind = EdgeKind::Leave, .weight = is_unreachable ? frequency : 0});
  if (!is_unreachable && block(from).getTerminator()->getNumSuccessors() == 0)
    add({.from = from, .to = 0, .kind = EdgeKind::Exit, .weight = frequency});
}

void EdgeGraph::add(Edge edge) {
  if (edge.kind != EdgeKind::Leave)
    edge.ordinal = ++ordinals_[{edge.from, edge.to}];
  ++incoming_[edge.to];
  edges_.push_back(edge);
}

EdgeSpot EdgeGraph::spotOf(const Edge &edge) const {
  switch (edge.kind) {
  case EdgeKind::Enter:
    return EdgeSpot::Start;
  case EdgeKind::Exit:
    return EdgeSpot::End;
  case EdgeKind::Leave:
    return EdgeSpot::None;
  default:
    break;
  }
  const Instruction &terminator = *block(edge.from).getTerminator();
  if (terminator.getNumSuccessors() == 1 && !terminator.isEHPad() && !isa<CallBase>(terminator))
    return EdgeSpot::End;
  if (incoming_[edge.to] == 1 && hasStart(block(edge.to)))
    return EdgeSpot::Start;
  return edge.splits ? EdgeSpot::Between : EdgeSpot::None;
}

} // namespace msleaks::passes
