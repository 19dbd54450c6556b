#include "graphs/loop_registers.h"

#include "graphs/edge_graph.h"

#include "llvm/ADT/DenseMap.h"
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

// A loop around others keeps the counters of these, too, while it runs.
constexpr unsigned kMostRegisters = 8;

void add(IRBuilder<> &builder, Value *address, Value *amount) {
  Value *count = builder.CreateLoad(builder.getInt64Ty(), address);
  builder.CreateStore(builder.CreateAdd(count, amount), address);
}

class Registers {
public:
  Registers(Function &function, ArrayRef<CounterPlace> places, Value *counters)
      : function_(function), places_(places), counters_(counters), dominators_(function), loops_(dominators_) {
    const SmallVector<Loop *> outermost(loops_.begin(), loops_.end());
    for (Loop *loop : outermost)
      simplifyLoop(loop, &dominators_, &loops_, nullptr, nullptr, nullptr, /*PreserveLCSSA=*/false);
    for (const CounterPlace &place : places)
      for (const Loop *loop = loopOf(place); loop; loop = loop->getParentLoop())
        ++counters_in_[loop];
  }

  void count() {
    for (const CounterPlace &place : places_) {
      IRBuilder<> builder(place.before);
      Loop *loop = keptIn(place);
      add(builder, loop ? registerIn(*loop, place.counter) : addressOf(builder, place.counter), builder.getInt64(1));
    }
    PromoteMemToReg(registers_, dominators_);
  }

private:
  Loop *loopOf(const CounterPlace &place) const { return loops_.getLoopFor(place.before->getParent()); }

  Value *addressOf(IRBuilder<> &builder, uint32_t counter) const {
    return builder.CreateConstGEP1_64(builder.getInt64Ty(), counters_, counter);
  }

  // It comes by one of its ends whenever it was begun.
  bool endsWell(const Loop &loop) {
    if (const auto known = ends_well_.find(&loop); known != ends_well_.end())
      return known->second;
    return ends_well_[&loop] = findEndsWell(loop);
  }

  static bool findEndsWell(const Loop &loop) {
    SmallVector<BasicBlock *> ends;
    loop.getUniqueExitBlocks(ends);
    if (!loop.getLoopPreheader() || !loop.hasDedicatedExits() || ends.empty())
      return false;
    for (const BasicBlock *end : ends)
      if (end->getFirstInsertionPt() == end->end())
        return false;
    for (const BasicBlock *block : loop.blocks())
      for (const Instruction &instruction : *block)
        if (const auto *call = dyn_cast<CallBase>(&instruction); call && !surelyComesBack(*call))
          return false;
    return true;
  }

  // The outermost loop in whose registers the counter is kept, or null.
  Loop *keptIn(const CounterPlace &place) {
    Loop *kept = nullptr;
    for (Loop *loop = loopOf(place); loop && endsWell(*loop); loop = loop->getParentLoop()) {
      if (kept && counters_in_[loop] > kMostRegisters)
        break;
      kept = loop;
    }
    return kept;
  }

  Value *registerIn(const Loop &loop, uint32_t counter) {
    IRBuilder<> builder(&*function_.getEntryBlock().begin());
    AllocaInst *kept = builder.CreateAlloca(builder.getInt64Ty());
    registers_.push_back(kept);
    builder.SetInsertPoint(loop.getLoopPreheader()->getTerminator());
    builder.CreateStore(builder.getInt64(0), kept);
    SmallVector<BasicBlock *> ends;
    loop.getUniqueExitBlocks(ends);
    for (BasicBlock *end : ends) {
      builder.SetInsertPoint(end, end->getFirstInsertionPt());
      Value *amount = builder.CreateLoad(builder.getInt64Ty(), kept);
      add(builder, addressOf(builder, counter), amount);
    }
    return kept;
  }

  Function &function_;
  ArrayRef<CounterPlace> places_;
  Value *counters_;
  DominatorTree dominators_;
  LoopInfo loops_;
  DenseMap<const Loop *, unsigned> counters_in_;
  DenseMap<const Loop *, bool> ends_well_;
  SmallVector<AllocaInst *> registers_;
};

} // namespace

void countAt(Function &function, ArrayRef<CounterPlace> places, Value *counters) {
  Registers(function, places, counters).count();
}

} // namespace msleaks::passes
