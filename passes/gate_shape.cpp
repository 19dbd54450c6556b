#include "gate_shape.h"

#include "compat.h"
#include "pin.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

// These attributes decide how a value is passed. They must be equal at the call, at the gate and at the call inside the
// gate.
constexpr Attribute::AttrKind kPassing[] = {
    Attribute::ZExt,      Attribute::SExt, Attribute::InReg,     Attribute::ByVal,      Attribute::ByRef,
    Attribute::StructRet, Attribute::Nest, Attribute::SwiftSelf, Attribute::SwiftError, Attribute::SwiftAsync};
// For a struct on the stack (byval), these attributes must be equal, too. For a pointer, they may differ.
constexpr Attribute::AttrKind kPassingOnStack[] = {Attribute::Alignment, Attribute::StackAlignment};

// A gate gets these attributes of its callers. With other target features, it could pass values in other registers.
constexpr StringLiteral kTarget[] = {"target-cpu", "target-features", "tune-cpu", "use-soft-float"};
constexpr Attribute::AttrKind kCodeGeneration[] = {
    Attribute::MinSize,         Attribute::NoImplicitFloat,          Attribute::NoRedZone, Attribute::OptimizeForSize,
    Attribute::ShadowCallStack, Attribute::SpeculativeLoadHardening, Attribute::StrictFP,
};

// These attributes may be true of the allocator, but not of a gate, since a gate may record events.
constexpr Attribute::AttrKind kOfTheCallee[] = {
    Attribute::AllocKind, Attribute::AllocSize, Attribute::Builtin,    Attribute::NoBuiltin,  Attribute::Memory,
    Attribute::NoFree,    Attribute::NoSync,    Attribute::WillReturn, Attribute::NoCallback, Attribute::Speculatable,
};
constexpr StringLiteral kTextsOfTheCallee[] = {"alloc-family", "alloc-variant-zeroed"};
constexpr Attribute::AttrKind kOfTheCalleesParameter[] = {Attribute::AllocAlign, Attribute::AllocatedPointer,
                                                          Attribute::ReadNone, Attribute::WriteOnly};

template <typename Kinds> AttributeSet only(LLVMContext &context, AttributeSet set, const Kinds &kinds) {
  AttrBuilder kept(context);
  for (const auto kind : kinds)
    if (set.hasAttribute(kind))
      kept.addAttribute(set.getAttribute(kind));
  return AttributeSet::get(context, kept);
}

AttributeSet merged(LLVMContext &context, AttributeSet base, AttributeSet over) {
  AttrBuilder builder(context, base);
  builder.merge(AttrBuilder(context, over));
  return AttributeSet::get(context, builder);
}

AttributeSet passing(LLVMContext &context, AttributeSet set) {
  const AttributeSet kept = only(context, set, kPassing);
  return set.hasAttribute(Attribute::ByVal) ? merged(context, kept, only(context, set, kPassingOnStack)) : kept;
}

AttributeSet targetOf(LLVMContext &context, const Function &caller) {
  const AttributeSet all = caller.getAttributes().getFnAttrs();
  return merged(context, only(context, all, kTarget), only(context, all, kCodeGeneration));
}

// Returns the attributes of a gate. The attributes of the callee's result (noalias, nonnull) are also true of the
// gate's result.
AttributeList shapeAttributes(const CallBase &call) {
  LLVMContext &context = call.getContext();
  const AttributeList declared = call.getCalledFunction() ? call.getCalledFunction()->getAttributes() : AttributeList();
  const AttributeList &said = call.getAttributes();
  AttributeSet function = targetOf(context, *call.getFunction());
  if (call.doesNotThrow())
    function = function.addAttribute(context, Attribute::NoUnwind);
  SmallVector<AttributeSet, 8> parameters;
  for (unsigned i = 0; i < call.arg_size(); ++i)
    parameters.push_back(
        merged(context, passing(context, declared.getParamAttrs(i)), passing(context, said.getParamAttrs(i))));
  return AttributeList::get(context, function,
                            merged(context, declared.getRetAttrs(), passing(context, said.getRetAttrs())), parameters);
}

FunctionType *gateType(const CallBase &call, ArrayRef<Value *> pinned) {
  SmallVector<Type *, 8> parameters;
  for (const Value *argument : call.args())
    parameters.push_back(argument->getType());
  parameters.push_back(Type::getInt32Ty(call.getContext()));
  for (const Value *operand : pinned)
    parameters.push_back(operand->getType());
  return FunctionType::get(call.getType(), parameters, /*isVarArg=*/false);
}

// Returns the personality function that the gate needs to catch exceptions: the caller's, or else that of C++. Returns
// null if the call throws nothing, or if there is no such function.
Constant *personalityOf(const CallBase &call) {
  if (call.doesNotThrow())
    return nullptr;
  const Function &caller = *call.getFunction();
  return caller.hasPersonalityFn() ? caller.getPersonalityFn() : call.getModule()->getFunction("__gxx_personality_v0");
}

} // namespace

const char *gateObstacle(const CallBase &call) {
  if (hasForeignBundle(call))
    return "it has an operand bundle";
  if (call.hasFnAttr(Attribute::ReturnsTwice))
    return "it returns twice";
  if (call.hasInAllocaArgument() || call.getAttributes().hasAttrSomewhere(Attribute::Preallocated))
    return "an argument is passed in the caller's own frame";
  return nullptr;
}

GateShape::GateShape(const CallBase &call, ArrayRef<Value *> pinned)
    : callee(call.getCalledOperand()), call_type(call.getFunctionType()), type(gateType(call, pinned)),
      attributes(shapeAttributes(call)), convention(call.getCallingConv()), personality(personalityOf(call)),
      arguments(call.arg_size()) {}

AttributeList attributesForGate(const CallBase &call) {
  LLVMContext &context = call.getContext();
  AttributeMask function, parameter;
  for (const Attribute::AttrKind kind : kOfTheCallee)
    function.addAttribute(kind);
  for (const StringRef text : kTextsOfTheCallee)
    function.addAttribute(text);
  for (const Attribute::AttrKind kind : kOfTheCalleesParameter)
    parameter.addAttribute(kind);
  const AttributeList &said = call.getAttributes();
  SmallVector<AttributeSet, 8> parameters;
  for (unsigned i = 0; i < call.arg_size(); ++i)
    parameters.push_back(said.getParamAttrs(i).removeAttributes(context, parameter));
  return AttributeList::get(context, said.getFnAttrs().removeAttributes(context, function), said.getRetAttrs(),
                            parameters);
}

} // namespace msleaks::passes
