#include "graphs/edge_calls.h"

#include "compat.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

constexpr char kName[] = "__msl_count_edge";
constexpr unsigned kOneBank = 1;

} // namespace

EdgeCalls::EdgeCalls(Module &module, PointerType *counters, unsigned convention, Add add) {
  LLVMContext &context = module.getContext();
  Type *number = Type::getInt32Ty(context);
  callee_ = Function::Create(FunctionType::get(Type::getVoidTy(context), {counters, number, number, number}, false),
                             GlobalValue::InternalLinkage, kName, &module);
  callee_->setCallingConv(static_cast<CallingConv::ID>(convention));
  callee_->addFnAttr(Attribute::NoInline);
  callee_->addFnAttr(Attribute::NoUnwind);
  IRBuilder<> builder(BasicBlock::Create(context, "", callee_));
  Instruction *end = builder.CreateRetVoid();
  builder.SetInsertPoint(end);
  Value *granularity = callee_->getArg(3);
  Instruction *then =
      SplitBlockAndInsertIfThen(builder.CreateIsNotNull(granularity), before(*end), /*Unreachable=*/false);
  builder.SetInsertPoint(then);
  Value *address = builder.CreateGEP(builder.getInt64Ty(), callee_->getArg(0),
                                     builder.CreateZExt(callee_->getArg(1), builder.getInt64Ty()));
  add(builder, address, builder.CreateZExt(granularity, builder.getInt64Ty()));
}

void EdgeCalls::add(Value &counters, uint32_t first, Value *is_counted, Instruction &before,
                    ArrayRef<CountedAmount> amounts) const {
  IRBuilder<> builder(&before);
  for (const auto &[counter, amount] : amounts) {
    Value *granularity = builder.CreateTrunc(amount, builder.getInt32Ty());
    if (is_counted)
      granularity = builder.CreateSelect(is_counted, granularity, builder.getInt32(0));
    CallInst *call = builder.CreateCall(
        callee_, {&counters, builder.getInt32(first + counter), builder.getInt32(kOneBank), granularity});
    call->setCallingConv(callee_->getCallingConv());
    call->addFnAttr(Attribute::NoMerge); // do not merge this call with the call of another edge
  }
}

} // namespace msleaks::passes
