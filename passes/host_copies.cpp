#include "host_copies.h"

#include "call_protocol.h"
#include "compat.h"
#include "marks.h"

#include "msleaks/abi/host_copies.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

const abi::Symbol *rowOfName(StringRef name) {
  const auto *row = find_if(abi::kHostCopies, [&](const abi::Symbol &known) { return StringRef(known.name) == name; });
  return row != std::end(abi::kHostCopies) ? row : nullptr;
}

bool takesCopy(const CallBase &call) {
  return call.arg_size() >= 3 && call.getArgOperand(0)->getType()->isPointerTy() &&
         call.getArgOperand(1)->getType()->isPointerTy() && call.getArgOperand(2)->getType()->isIntegerTy() &&
         call.getArgOperand(2)->getType()->getIntegerBitWidth() <= 64;
}

const abi::Symbol *rowOfCopy(const CallBase &call) {
  switch (call.getIntrinsicID()) {
  case Intrinsic::memcpy:
    return rowOfName("memcpy");
  case Intrinsic::memmove:
    return rowOfName("memmove");
  case Intrinsic::not_intrinsic:
    break;
  default:
    return nullptr;
  }
  const Function *callee = call.getCalledFunction();
  return callee && callee->isDeclaration() && takesCopy(call) ? rowOfName(callee->getName()) : nullptr;
}

bool isInMainMemory(const CallBase &call) {
  return call.getArgOperand(0)->getType()->getPointerAddressSpace() == 0 &&
         call.getArgOperand(1)->getType()->getPointerAddressSpace() == 0;
}

// Whether the size may be large: an integer of few bits, or a small constant, is not.
bool mayBeLarge(const Value &size) {
  if (const auto *constant = dyn_cast<ConstantInt>(&size))
    return constant->getValue().uge(abi::kLeastHostCopyBytes);
  return size.getType()->getIntegerBitWidth() > 16;
}

} // namespace

SmallVector<FoundCall> findHostCopies(Function &function) {
  SmallVector<FoundCall> found;
  if (rowOfName(function.getName())) // the program's own memcpy
    return found;
  for (Instruction &instruction : instructions(function))
    if (auto *call = dyn_cast<CallBase>(&instruction))
      if (const abi::Symbol *row = rowOfCopy(*call);
          row && isInMainMemory(*call) && mayBeLarge(*call->getArgOperand(2)) && !isLeftAlone(*call) &&
          !call->hasMetadata(LLVMContext::MD_nosanitize) && !isa<CallBrInst>(call))
        found.push_back({call, row});
  return found;
}

void recordHostCopy(const FoundCall &found, uint32_t row, GlobalVariable &unit, RuntimeDecls &runtime) {
  CallBase &call = *found.call;
  MDNode *unlikely = unlikelyBranchWeights(call.getContext());
  IRBuilder<> builder(&call);
  Instruction *at = &call;
  Value *size = call.getArgOperand(2);
  if (!isa<ConstantInt>(size)) {
    Value *is_large = builder.CreateICmpUGT(size, ConstantInt::get(size->getType(), abi::kLeastHostCopyBytes - 1));
    at = SplitBlockAndInsertIfThen(is_large, before(*at), /*Unreachable=*/false, unlikely);
    builder.SetInsertPoint(at);
    builder.SetCurrentDebugLocation(call.getDebugLoc());
  }
  LoadInst *base = builder.CreateAlignedLoad(builder.getInt32Ty(), &unit, Align(4));
  base->setAtomic(AtomicOrdering::Monotonic);
  at = SplitBlockAndInsertIfThen(builder.CreateIsNotNull(base), before(*at), /*Unreachable=*/false, unlikely);
  at->setDebugLoc(call.getDebugLoc());
  builder.SetInsertPoint(at);
  builder.SetCurrentDebugLocation(call.getDebugLoc());
  const SmallVector<Value *, 4> operands(call.arg_begin(), call.arg_end());
  CallProtocol(runtime, call, {*found.symbol, /*inner_free=*/false}, operands)
      .emitBefore(builder, builder.CreateAdd(base, builder.getInt32(row)));
  leaveAlone(call);
}

} // namespace msleaks::passes
