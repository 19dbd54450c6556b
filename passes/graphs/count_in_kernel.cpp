#include "graphs/count_in_kernel.h"

#include "compat.h"

#include "msleaks/abi/device_counts.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

// Moves the allocas of constant size. LLVM treats an alloca outside of the function's first block as one of dynamic
// size.
void moveAllocas(BasicBlock &from, BasicBlock &to) {
  for (Instruction &instruction : make_early_inc_range(from))
    if (auto *alloca = dyn_cast<AllocaInst>(&instruction); alloca && isa<ConstantInt>(alloca->getArraySize()))
      alloca->moveBefore(to, to.end());
}

void join(Function &kernel, Function &clone, GlobalVariable &where) {
  for (const auto &[own, copied] : zip(kernel.args(), clone.args()))
    copied.replaceAllUsesWith(&own);
  BasicBlock &plain = kernel.getEntryBlock(), &counting = clone.getEntryBlock();
  BasicBlock *head = BasicBlock::Create(kernel.getContext(), "", &kernel, &plain);
  moveAllocas(plain, *head);
  moveAllocas(counting, *head);
  IRBuilder<> builder(head);
  Value *counts = builder.CreateAlignedLoad(where.getValueType(), &where, where.getAlign());
  (clone.arg_end() - 1)->replaceAllUsesWith(counts);
  builder.CreateCondBr(builder.CreateIsNotNull(counts), &counting, &plain);
  kernel.splice(kernel.end(), &clone);
  builder.SetInsertPoint(BasicBlock::Create(clone.getContext(), "", &clone));
  builder.CreateRetVoid();
  clone.setName(abi::kInKernelPrefix + kernel.getName());
}

} // namespace

void countInKernel(const DeviceTarget &target, ArrayRef<CountedClone> clones, StringRef table) {
  StringRef hash = table;
  hash.consume_front(abi::kGraphsPrefix);
  GlobalVariable &where = target.addPointer(abi::kCountsPrefix + hash);
  for (const CountedClone &counted : clones)
    if (counted.is_kernel) {
      join(*counted.original, *counted.clone, where);
      target.dropWhatItAsks(*counted.original);
    }
}

} // namespace msleaks::passes
