#include "gate.h"

#include "compat.h"
#include "direct_call.h"
#include "pin.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

// With these attributes, later passes neither inline nor instrument a gate.
constexpr Attribute::AttrKind kOfEveryGate[] = {Attribute::NoInline, Attribute::DisableSanitizerInstrumentation,
                                                Attribute::NoSanitizeCoverage, Attribute::NoProfile};

// Makes a gate or an armed half, without a body. Behind the arguments of the call, a gate has the row as a parameter.
// An armed half has the site at this position.
Function &declare(const GateShape &shape, Module &module, const char *prefix, const char *number) {
  Function &function = *Function::createWithDefaultAttr(
      shape.type, GlobalValue::InternalLinkage, module.getDataLayout().getProgramAddressSpace(),
      Twine(prefix) + GlobalValue::dropLLVMManglingEscape(shape.callee->stripPointerCasts()->getName()), &module);
  function.setDSOLocal(true);
  function.setCallingConv(shape.convention);
  function.setAttributes(AttributeList::get(module.getContext(), {function.getAttributes(), shape.attributes}));
  for (const Attribute::AttrKind kind : kOfEveryGate)
    function.addFnAttr(kind);
  function.getArg(shape.arguments)->setName(number);
  return function;
}

SmallVector<Value *, 8> valuesOf(Function &function) {
  SmallVector<Value *, 8> values;
  for (Argument &argument : function.args())
    values.push_back(&argument);
  return values;
}

// Sets the calling convention of a call inside a gate, and the attributes that say how its arguments are passed.
void passAs(const GateShape &shape, CallBase &call) {
  LLVMContext &context = call.getContext();
  AttributeSet function;
  for (const Attribute::AttrKind kind : {Attribute::NoUnwind, Attribute::StrictFP})
    if (shape.attributes.hasFnAttr(kind))
      function = function.addAttribute(context, kind);
  // With NoBuiltin, no later pass replaces or deletes the call.
  function = function.addAttribute(context, Attribute::NoBuiltin);
  SmallVector<AttributeSet, 8> parameters;
  for (unsigned i = 0; i < shape.arguments; ++i)
    parameters.push_back(shape.attributes.getParamAttrs(i));
  call.setCallingConv(shape.convention);
  call.setAttributes(AttributeList::get(context, function, shape.attributes.getRetAttrs(), parameters));
}

void giveResult(IRBuilder<> &builder, CallBase &call) {
  if (call.getType()->isVoidTy())
    builder.CreateRetVoid();
  else
    builder.CreateRet(&call);
}

void jump(IRBuilder<> &builder, const GateShape &shape, FunctionType *type, Value *target, ArrayRef<Value *> values) {
  CallInst *call = builder.CreateCall(type, target, values);
  call->setTailCallKind(CallInst::TCK_Tail);
  passAs(shape, *call);
  giveResult(builder, *call);
}

// Writes the end of the armed path, which jumps to the hook if the callee is a hook with a site parameter. Otherwise it
// jumps to the armed half.
void writeArmedPath(IRBuilder<> &builder, Function &armedHalf, const GateShape &shape,
                    const std::optional<DirectCall> &direct, ArrayRef<Value *> values) {
  if (!direct)
    return jump(builder, shape, shape.type, &armedHalf, values);
  LLVMContext &context = builder.getContext();
  Function *gate = builder.GetInsertBlock()->getParent();
  auto *hooked = BasicBlock::Create(context, "hooked", gate);
  auto *callbacks = BasicBlock::Create(context, "callbacks", gate);
  builder.CreateCondBr(builder.CreateICmpNE(shape.callee, direct->hook), callbacks, hooked,
                       unlikelyBranchWeights(context));
  builder.SetInsertPoint(hooked);
  jump(builder, shape, shape.type, direct->with_site, values);
  builder.SetInsertPoint(callbacks);
  jump(builder, shape, shape.type, &armedHalf, values);
}

void writeGate(Function &gate, Function &armedHalf, const GateShape &shape, GlobalVariable &unit,
               const std::optional<DirectCall> &direct) {
  LLVMContext &context = gate.getContext();
  auto *entry = BasicBlock::Create(context, "", &gate);
  auto *plain = BasicBlock::Create(context, "plain", &gate);
  auto *armed = BasicBlock::Create(context, "armed", &gate);
  SmallVector<Value *, 8> values = valuesOf(gate);
  IRBuilder<> builder(entry);
  LoadInst *base = builder.CreateAlignedLoad(builder.getInt32Ty(), &unit, Align(4), "base");
  base->setAtomic(AtomicOrdering::Monotonic);
  builder.CreateCondBr(builder.CreateIsNotNull(base), armed, plain, unlikelyBranchWeights(context));
  builder.SetInsertPoint(plain);
  jump(builder, shape, shape.call_type, shape.callee, ArrayRef(values).take_front(shape.arguments));
  builder.SetInsertPoint(armed);
  values[shape.arguments] = builder.CreateAdd(values[shape.arguments], base, "site");
  writeArmedPath(builder, armedHalf, shape, direct, values);
}

// Writes the code that runs when an exception leaves the call: it removes the site that is stored for a hook.
void writeThrown(BasicBlock &thrown, const CallProtocol &protocol, Value *site) {
  IRBuilder<> builder(&thrown);
  LandingPadInst *landing =
      builder.CreateLandingPad(StructType::get(builder.getPtrTy(), builder.getInt32Ty()), /*NumClauses=*/0);
  landing->setCleanup(true);
  protocol.emitCancel(builder, site);
  builder.CreateResume(landing);
}

void writeArmed(Function &armed, const GateShape &shape, RuntimeDecls &runtime, const CallKind &kind) {
  const SmallVector<Value *, 8> values = valuesOf(armed);
  const ArrayRef<Value *> arguments = ArrayRef(values).take_front(shape.arguments);
  const ArrayRef<Value *> pinned = ArrayRef(values).drop_front(shape.arguments + 1);
  Value *site = values[shape.arguments];
  auto *done = BasicBlock::Create(armed.getContext(), "", &armed), *thrown = done;
  IRBuilder<> builder(done);
  CallBase *call;
  if (armed.hasPersonalityFn()) {
    done = BasicBlock::Create(armed.getContext(), "done", &armed);
    thrown = BasicBlock::Create(armed.getContext(), "thrown", &armed);
    call = builder.CreateInvoke(shape.call_type, shape.callee, done, thrown, arguments);
  } else {
    call = builder.CreateCall(shape.call_type, shape.callee, arguments);
  }
  passAs(shape, *call);
  const CallProtocol protocol(runtime, *call, kind, pinned.empty() ? arguments : pinned);
  builder.SetInsertPoint(call);
  protocol.emitBefore(builder, site);
  builder.SetInsertPoint(done);
  protocol.emitAfter(builder, site);
  giveResult(builder, *call);
  if (thrown != done)
    writeThrown(*thrown, protocol, site);
}

Function &makeGate(const GateShape &shape, const CallKind &kind, GlobalVariable &unit, RuntimeDecls &runtime) {
  Module &module = *unit.getParent();
  Function &gate = declare(shape, module, "__msl_gate.", "row");
  Function &armed = declare(shape, module, "__msl_armed.", "site");
  if (opensCall(kind))
    armed.setPersonalityFn(shape.personality);
  writeGate(gate, armed, shape, unit, kind.inner_free ? std::nullopt : directCallOf(shape));
  writeArmed(armed, shape, runtime, kind);
  return gate;
}

void replaceCall(CallBase &call, Function &gate, ArrayRef<Value *> arguments) {
  IRBuilder<> builder(&call);
  CallBase *replacement;
  if (auto *invoke = dyn_cast<InvokeInst>(&call)) {
    replacement = builder.CreateInvoke(&gate, invoke->getNormalDest(), invoke->getUnwindDest(), arguments);
  } else {
    CallInst *made = builder.CreateCall(&gate, arguments);
    made->setTailCallKind(cast<CallInst>(call).getTailCallKind());
    replacement = made;
  }
  replacement->setCallingConv(call.getCallingConv());
  replacement->setAttributes(attributesForGate(call));
  replacement->copyMetadata(call);
  replacement->setDebugLoc(call.getDebugLoc());
  replacement->takeName(&call);
  call.replaceAllUsesWith(replacement);
  call.eraseFromParent();
}

} // namespace

void Gates::redirect(CallBase &call, const CallKind &kind, uint32_t row) {
  SmallVector<Value *, 8> arguments(call.args());
  SmallVector<Value *, 8> pinned = operandsOf(call);
  if (pinned == arguments)
    pinned.clear();
  const GateShape shape(call, pinned);
  Function *&gate = made_[{shape.key(), kind.inner_free}];
  if (!gate)
    gate = &makeGate(shape, kind, unit_, runtime_);
  arguments.push_back(ConstantInt::get(Type::getInt32Ty(call.getContext()), row));
  arguments.append(pinned);
  replaceCall(call, *gate, arguments);
}

} // namespace msleaks::passes
