#include "guard.h"

#include "compat.h"
#include "pin.h"

#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace msleaks::passes {

void guardTailCall(CallBase &call, const CallKind &kind, uint32_t row, GlobalVariable &unit, RuntimeDecls &runtime) {
  IRBuilder<> builder(&call);
  LoadInst *base = builder.CreateAlignedLoad(builder.getInt32Ty(), &unit, Align(4));
  base->setAtomic(AtomicOrdering::Monotonic);
  MDNode *unlikely = unlikelyBranchWeights(call.getContext());
  Instruction *end =
      SplitBlockAndInsertIfThen(builder.CreateIsNotNull(base), before(call), /*Unreachable=*/false, unlikely);
  end->setDebugLoc(call.getDebugLoc());
  builder.SetInsertPoint(end);
  builder.SetCurrentDebugLocation(call.getDebugLoc());
  const SmallVector<Value *, 8> operands = operandsOf(call);
  CallProtocol(runtime, call, kind, operands)
      .emitBeforeTailCall(builder, builder.CreateAdd(base, builder.getInt32(row)));
}

} // namespace msleaks::passes
