#include "graphs/thread_counters.h"

#include "compat.h"
#include "runtime_decls.h"
#include "table_bytes.h"

#include "msleaks/abi/graph_table.h"

#include "llvm/IR/Constants.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

constexpr uint64_t kRefused = 1; // value of the slot if the runtime has no array for this thread
constexpr uint32_t kMostOnStack = 512;
constexpr int kOutermost = 101; // priority: runs before the program's constructors and after its destructors

// Returns the type of abi::GraphUnit: { version, bytes, counters, table }.
StructType *unitType(LLVMContext &context) {
  Type *half = Type::getInt16Ty(context);
  return StructType::get(context, {half, half, Type::getInt32Ty(context), PointerType::get(context, 0)});
}

GlobalVariable *makeTable(Module &module, StringRef bytes) {
  Constant *content = ConstantDataArray::getString(module.getContext(), bytes, /*AddNull=*/false);
  auto *table = new GlobalVariable(module, content->getType(), /*isConstant=*/true, GlobalValue::PrivateLinkage,
                                   content, "__msl_graphs");
  table->setSection(abi::kGraphsSection);
  table->setAlignment(Align(kTableAlign));
  return table;
}

// Whether the target has a calling convention that preserves the caller's registers. With it, a function that may call
// __msl_first_count need not save registers for this rare call.
bool savesRegisters(const Triple &target) {
  return target.getArch() == Triple::x86_64 || target.getArch() == Triple::aarch64;
}

} // namespace

ThreadCounters::ThreadCounters(Module &module) : module_(module), counters_of_(RuntimeDecls(module).countersOf()) {
  LLVMContext &context = module.getContext();
  auto *pointer = PointerType::get(context, 0);
  slot_ = new GlobalVariable(module, pointer, /*isConstant=*/false, GlobalValue::InternalLinkage,
                             ConstantPointerNull::get(pointer), "__msl_counters", nullptr,
                             GlobalValue::GeneralDynamicTLSModel);
  unit_ = new GlobalVariable(module, unitType(context), /*isConstant=*/true, GlobalValue::InternalLinkage,
                             Constant::getNullValue(unitType(context)), "__msl_graph_unit");
  first_ =
      Function::createWithDefaultAttr(FunctionType::get(pointer, false), GlobalValue::InternalLinkage,
                                      module.getDataLayout().getProgramAddressSpace(), "__msl_first_count", &module);
  first_->setDoesNotThrow();
  first_->addFnAttr(Attribute::NoInline);
  first_->addFnAttr(Attribute::Cold);
  if (savesRegisters(targetOf(module)))
    first_->setCallingConv(CallingConv::PreserveMost);
}

// Emits the code in front of `begin` that finds the thread's array. Afterwards, `begin` is in the last of the new
// blocks.
Value *ThreadCounters::find(Instruction &begin, uint32_t first, Value &scratch) {
  IRBuilder<> builder(&begin);
  Value *refused = builder.CreateIntToPtr(builder.getInt64(kRefused), builder.getPtrTy());
  const auto isArray = [&](Value *pointer) { return builder.CreateICmpUGT(pointer, refused); };
  const auto ofFunction = [&](Value *array) { return builder.CreateConstGEP1_64(builder.getInt64Ty(), array, first); };
  Value *known = builder.CreateLoad(builder.getPtrTy(), builder.CreateThreadLocalAddress(slot_));
  Value *here = ofFunction(known);
  BasicBlock *head = begin.getParent();
  Instruction *otherwise = SplitBlockAndInsertIfThen(builder.CreateNot(isArray(known)), before(begin),
                                                     /*Unreachable=*/false, unlikelyBranchWeights(begin.getContext()));
  builder.SetInsertPoint(otherwise);
  Value *asks = builder.CreateAnd(builder.CreateIsNull(known), builder.CreateIsNotNull(counters_of_.getCallee()));
  BasicBlock *asking = otherwise->getParent();
  Instruction *ask = SplitBlockAndInsertIfThen(asks, before(*otherwise), /*Unreachable=*/false);
  builder.SetInsertPoint(ask);
  CallInst *asked = builder.CreateCall(first_);
  asked->setCallingConv(first_->getCallingConv());
  builder.SetInsertPoint(otherwise->getParent(), otherwise->getParent()->begin());
  PHINode *now = builder.CreatePHI(builder.getPtrTy(), 2);
  now->addIncoming(known, asking);
  now->addIncoming(asked, ask->getParent());
  Value *there = builder.CreateSelect(isArray(now), ofFunction(now), &scratch);
  builder.SetInsertPoint(begin.getParent(), begin.getParent()->begin());
  PHINode *counters = builder.CreatePHI(builder.getPtrTy(), 2, "counters");
  counters->addIncoming(here, head);
  counters->addIncoming(there, otherwise->getParent());
  return counters;
}

// Returns the array in which the function counts without a runtime: a local array. More than kMostOnStack counters get
// a global array, since a large local array could overflow the stack.
Value *ThreadCounters::scratch(Function &function, uint32_t count) {
  auto *type = ArrayType::get(Type::getInt64Ty(module_.getContext()), count);
  if (count > kMostOnStack)
    return new GlobalVariable(module_, type, /*isConstant=*/false, GlobalValue::InternalLinkage,
                              Constant::getNullValue(type), "__msl_uncounted");
  return IRBuilder<>(&*function.getEntryBlock().begin()).CreateAlloca(type);
}

Value *ThreadCounters::counters(Function &function, Instruction &begin, uint32_t first, uint32_t count) {
  return find(begin, first, *scratch(function, count));
}

// Makes the function that gets the thread's array from the runtime, and stores its address:
//
// define internal ptr @__msl_first_count() {
//   %asked = call ptr @__msl_counters_of(ptr @__msl_graph_unit, ptr @__msl_counters)
//   %kept = %asked != null ? %asked : 1
//   store ptr %kept, ptr @__msl_counters
//   ret ptr %kept
// }
void ThreadCounters::defineFirst() {
  IRBuilder<> builder(BasicBlock::Create(module_.getContext(), "", first_));
  Value *slot = builder.CreateThreadLocalAddress(slot_);
  Value *asked = builder.CreateCall(counters_of_, {unit_, slot});
  Value *refused = builder.CreateIntToPtr(builder.getInt64(kRefused), builder.getPtrTy());
  Value *kept = builder.CreateSelect(builder.CreateIsNotNull(asked), asked, refused);
  builder.CreateStore(kept, slot);
  builder.CreateRet(kept);
}

// Makes a function whose code runs only if the process has the callee, a function of the runtime:
//
// define internal void @NAME() {
//   br (CALLEE != null), call, rest
//   call:                                            ; `builder` inserts here
Function *ThreadCounters::defineWhereAsked(StringRef name, Value &callee, IRBuilder<> &builder) {
  Type *nothing = Type::getVoidTy(module_.getContext());
  Function *function =
      Function::createWithDefaultAttr(FunctionType::get(nothing, false), GlobalValue::InternalLinkage,
                                      module_.getDataLayout().getProgramAddressSpace(), name, &module_);
  function->setDoesNotThrow();
  builder.SetInsertPoint(BasicBlock::Create(module_.getContext(), "", function));
  Instruction *rest = builder.CreateRetVoid();
  builder.SetInsertPoint(rest);
  Value *has_runtime = builder.CreateIsNotNull(&callee);
  builder.SetInsertPoint(SplitBlockAndInsertIfThen(has_runtime, before(*rest), /*Unreachable=*/false));
  return function;
}

// Makes a constructor of the image, which registers the counters. Then functions that are never called are in the
// results, with a count of 0.
//   call:  br (@__msl_counters == null), first, rest  ; not null: another constructor has counted already
//   first: call ptr @__msl_first_count()
void ThreadCounters::defineBegin() {
  IRBuilder<> builder(module_.getContext());
  Function *begin = defineWhereAsked("__msl_begin_counts", *counters_of_.getCallee(), builder);
  Value *known = builder.CreateLoad(builder.getPtrTy(), builder.CreateThreadLocalAddress(slot_));
  Instruction &rest = *builder.GetInsertPoint();
  builder.SetInsertPoint(SplitBlockAndInsertIfThen(builder.CreateIsNull(known), before(rest), /*Unreachable=*/false));
  builder.CreateCall(first_)->setCallingConv(first_->getCallingConv());
  appendToGlobalCtors(module_, begin, kOutermost);
}

// Makes a destructor of the image, which ends the counting:
//   call: call void @__msl_uncount(ptr @__msl_graph_unit)
void ThreadCounters::defineLast() {
  IRBuilder<> builder(module_.getContext());
  FunctionCallee uncount = RuntimeDecls(module_).uncount();
  Function *last = defineWhereAsked("__msl_last_count", *uncount.getCallee(), builder);
  builder.CreateCall(uncount, {unit_});
  appendToGlobalDtors(module_, last, kOutermost);
}

void ThreadCounters::finish(uint32_t count, StringRef table) {
  defineFirst();
  StructType *type = unitType(module_.getContext());
  const auto number = [&](unsigned at, uint64_t value) { return ConstantInt::get(type->getElementType(at), value); };
  unit_->setInitializer(ConstantStruct::get(type, {number(0, abi::kGraphVersion), number(1, sizeof(abi::GraphUnit)),
                                                   number(2, count), makeTable(module_, table)}));
  defineBegin();
  defineLast();
}

} // namespace msleaks::passes
