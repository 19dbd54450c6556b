#include "guard.h"

#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

// Allocas of the entry block have their place in the frame only as long as they stand in it.
void keepAllocasInEntry(Instruction &place) {
  BasicBlock &block = *place.getParent();
  if (!block.isEntryBlock())
    return;
  for (Instruction &behind : make_early_inc_range(make_range(place.getIterator(), block.end())))
    if (auto *alloca = dyn_cast<AllocaInst>(&behind); alloca && alloca->isStaticAlloca())
      alloca->moveBefore(block, block.getFirstInsertionPt());
}

} // namespace

Guard::Guard(GlobalVariable &unit, Instruction &place, uint32_t row, const DebugLoc &location)
    : builder_(&place), site_(nullptr) {
  keepAllocasInEntry(place);
  builder_.SetCurrentDebugLocation(location);
  LoadInst *base = builder_.CreateAlignedLoad(builder_.getInt32Ty(), &unit, Align(4));
  base->setAtomic(AtomicOrdering::Monotonic);
  MDNode *unlikely = MDBuilder(unit.getContext()).createUnlikelyBranchWeights();
  Instruction *end = SplitBlockAndInsertIfThen(builder_.CreateIsNotNull(base), place.getIterator(),
                                               /*Unreachable=*/false, unlikely);
  end->setDebugLoc(location);
  builder_.SetInsertPoint(end);
  builder_.SetCurrentDebugLocation(location);
  site_ = builder_.CreateAdd(base, builder_.getInt32(row));
}

Instruction &placeAfter(CallBase &call) {
  auto *invoke = dyn_cast<InvokeInst>(&call);
  if (!invoke)
    return *call.getNextNode();
  BasicBlock *from = invoke->getParent(), *to = invoke->getNormalDest();
  if (to->getSinglePredecessor())
    return *to->getFirstInsertionPt();
  // from → to   becomes   from → edge → to
  auto *edge = BasicBlock::Create(call.getContext(), "", call.getFunction(), to);
  IRBuilder<> builder(edge);
  builder.SetCurrentDebugLocation(call.getDebugLoc());
  Instruction *end = builder.CreateBr(to);
  to->replacePhiUsesWith(from, edge);
  invoke->setNormalDest(edge);
  return *end;
}

Instruction *placeOnUnwind(CallBase &call) {
  auto *invoke = dyn_cast<InvokeInst>(&call);
  if (!invoke || !isa<LandingPadInst>(invoke->getUnwindDest()->getFirstNonPHIIt()))
    return nullptr;
  if (!invoke->getUnwindDest()->getSinglePredecessor()) {
    SmallVector<BasicBlock *, 2> parts;
    SplitLandingPadPredecessors(invoke->getUnwindDest(), {invoke->getParent()}, ".msl", ".rest", parts);
  }
  return &*invoke->getUnwindDest()->getFirstInsertionPt();
}

} // namespace msleaks::passes
