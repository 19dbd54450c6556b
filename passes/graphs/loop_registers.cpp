#include "graphs/loop_registers.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

class Registers {
public:
  Registers(Function &function, ArrayRef<CounterPlace> places, Calls calls, unsigned most)
      : function_(function), places_(places), calls_(calls), most_(most), dominators_(function), loops_(dominators_) {
    const SmallVector<Loop *> outermost(loops_.begin(), loops_.end());
    for (Loop *loop : outermost)
      simplifyLoop(loop, &dominators_, &loops_, nullptr, nullptr, nullptr, /*PreserveLCSSA=*/false);
    for (const CounterPlace &place : places)
      for (const Loop *loop = loopOf(place); loop; loop = loop->getParentLoop())
        ++counters_in_[loop];
  }

  void count(AddCounts add) {
    for (const CounterPlace &place : places_) {
      IRBuilder<> builder(place.before);
      if (const Loop *loop = keptIn(place))
        increment(builder, registerIn(*loop, place.counter));
      else
        amounts_[place.before].push_back({place.counter, builder.getInt64(1)});
    }
    for (const auto &[before, amounts] : amounts_)
      add(*before, amounts);
    if (registers_.empty())
      return;
    dominators_.recalculate(function_);
    PromoteMemToReg(registers_, dominators_);
  }

private:
  Loop *loopOf(const CounterPlace &place) const { return loops_.getLoopFor(place.before->getParent()); }

  static void increment(IRBuilder<> &builder, AllocaInst *kept) {
    Value *count = builder.CreateLoad(builder.getInt64Ty(), kept);
    builder.CreateStore(builder.CreateAdd(count, builder.getInt64(1)), kept);
  }

  // Whether the loop may have counters in registers. It must have a block before it and blocks behind it, which get the
  // code. No call may leave the loop.
  bool endsWell(const Loop &loop) {
    if (const auto known = ends_well_.find(&loop); known != ends_well_.end())
      return known->second;
    return ends_well_[&loop] = findEndsWell(loop);
  }

  bool findEndsWell(const Loop &loop) const {
    SmallVector<BasicBlock *> ends;
    loop.getUniqueExitBlocks(ends);
    if (!loop.getLoopPreheader() || !loop.hasDedicatedExits() || ends.empty())
      return false;
    for (const BasicBlock *end : ends)
      if (end->getFirstInsertionPt() == end->end())
        return false;
    if (calls_ == Calls::ComeBack)
      return true;
    for (const BasicBlock *block : loop.blocks())
      for (const Instruction &instruction : *block)
        if (const auto *call = dyn_cast<CallBase>(&instruction); call && !surelyComesBack(*call))
          return false;
    return true;
  }

  // Returns the outermost loop that has the counter in a register, or null.
  Loop *keptIn(const CounterPlace &place) {
    Loop *kept = nullptr;
    for (Loop *loop = most_ != 0 ? loopOf(place) : nullptr; loop && endsWell(*loop); loop = loop->getParentLoop()) {
      if (kept && counters_in_[loop] > most_)
        break;
      kept = loop;
    }
    return kept;
  }

  AllocaInst *registerIn(const Loop &loop, uint32_t counter) {
    IRBuilder<> builder(&*function_.getEntryBlock().begin());
    AllocaInst *kept = builder.CreateAlloca(builder.getInt64Ty());
    registers_.push_back(kept);
    builder.SetInsertPoint(loop.getLoopPreheader()->getTerminator());
    builder.CreateStore(builder.getInt64(0), kept);
    SmallVector<BasicBlock *> ends;
    loop.getUniqueExitBlocks(ends);
    for (BasicBlock *end : ends) {
      Instruction *&behind = behind_[end]; // the loop's counters are added to memory in front of this instruction
      if (!behind)
        behind = &*end->getFirstInsertionPt();
      builder.SetInsertPoint(behind);
      amounts_[behind].push_back({counter, builder.CreateLoad(builder.getInt64Ty(), kept)});
    }
    return kept;
  }

  Function &function_;
  ArrayRef<CounterPlace> places_;
  Calls calls_;
  unsigned most_;
  DominatorTree dominators_;
  LoopInfo loops_;
  DenseMap<const Loop *, unsigned> counters_in_;
  DenseMap<const Loop *, bool> ends_well_;
  SmallVector<AllocaInst *> registers_;
  DenseMap<const BasicBlock *, Instruction *> behind_;
  MapVector<Instruction *, SmallVector<CountedAmount>> amounts_; // by the instruction in front of which they are added
};

} // namespace

void countAt(Function &function, ArrayRef<CounterPlace> places, Calls calls, unsigned most, AddCounts add) {
  Registers(function, places, calls, most).count(add);
}

} // namespace msleaks::passes
