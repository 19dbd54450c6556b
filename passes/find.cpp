#include "find.h"

#include "call_protocol.h"
#include "compat.h"
#include "gate_shape.h"
#include "launch_shape.h"
#include "marks.h"
#include "pin.h"

#include "llvm/IR/GlobalIFunc.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

using abi::Position;
using abi::ResultKind;
using abi::Symbol;
using abi::Verb;

// These rows describe calls of launch stubs (known_symbols.h). The callback before such a call only stores the site.
// The launch inside the stub is recorded with this site.
const Symbol kCudaStub = {.name = {}, .verb = Verb::Launch, .family = abi::Family::Cuda, .heap = abi::Heap::Device};
const Symbol kHipStub = {.name = {}, .verb = Verb::Launch, .family = abi::Family::Hip, .heap = abi::Heap::Device};

// Whether the call's operand at the position fits into one word. True if the row has no such position.
bool wordAt(const CallBase &call, Position position) {
  if (!position.present())
    return true;
  const Value *value = operandAt(call, position);
  return value && isWord(*value->getType());
}

bool pointerAt(const CallBase &call, Position position) {
  const Value *value = operandAt(call, position);
  return value && value->getType()->isPointerTy();
}

bool resultFits(const CallBase &call, const Symbol &symbol) {
  switch (symbol.result.kind) {
  case ResultKind::None:
    return true;
  case ResultKind::Return:
    return call.getType()->isPointerTy();
  case ResultKind::Out:
  case ResultKind::At:
    return call.getType()->isIntegerTy() && isWord(*call.getType()) && pointerAt(call, symbol.result.at);
  case ResultKind::Handle:
    return call.getType()->isPointerTy() && pointerAt(call, symbol.result.at);
  }
  return false;
}

// Whether the call has the operands and the result of its row. A function that has a known name but other parameters is
// not the known function.
bool fits(const CallBase &call, const Symbol &symbol) {
  for (const Position position :
       {symbol.size, symbol.count, symbol.address, symbol.old_size, symbol.source, symbol.direction, symbol.value,
        symbol.protection, symbol.mapping, symbol.kernel, symbol.stream, symbol.shared})
    if (!wordAt(call, position))
      return false;
  if (symbol.verb == Verb::Protect && !returnsStatus(call, symbol))
    return false;
  return resultFits(call, symbol) && shapeFits(call, symbol);
}

// Returns the row of a launch stub: kHipStub or kCudaStub.
const Symbol *stubSymbol(const Function &stub, const KnownSymbols &symbols) {
  for (const Instruction &instruction : instructions(stub))
    if (const auto *call = dyn_cast<CallBase>(&instruction))
      if (const Function *callee = call->getCalledFunction())
        if (const Symbol *symbol = symbols.find(*callee); symbol && symbol->verb == Verb::Launch)
          return symbol->family == abi::Family::Hip ? &kHipStub : &kCudaStub;
  return stub.getParent()->getFunction("__hipPushCallConfiguration") ? &kHipStub : &kCudaStub;
}

// Whether the function belongs to msleaks: a gate, a part of a gate, or a callback.
bool isOurs(const Function &function) { return function.getName().starts_with("__msl_"); }

} // namespace

const Symbol *knownCallee(const CallBase &call, const KnownSymbols &symbols) {
  if (call.isInlineAsm())
    return nullptr;
  const auto *callee = dyn_cast<Function>(call.getCalledOperand()->stripPointerCasts());
  if (!callee || callee->isIntrinsic() || isOurs(*callee))
    return nullptr;
  if (const Symbol *symbol = symbols.find(*callee))
    return abi::isInstrumented(*symbol) ? symbol : nullptr;
  return isLaunchStub(*callee) ? stubSymbol(*callee, symbols) : nullptr;
}

const char *callObstacle(const CallBase &call, const Symbol &symbol) {
  if (call.hasMetadata(LLVMContext::MD_nosanitize))
    return "the compiler put it there";
  if (isLeftAlone(call))
    return "it is to be ignored, or is recorded already";
  if (isa<CallBrInst>(call))
    return "it is a callbr";
  if (!fits(call, symbol))
    return "its operands or its result are not those of the function that msleaks knows by this name";
  return call.isMustTailCall() ? nullptr : gateObstacle(call);
}

bool targetIsSupported(const Module &module) {
  const Triple target = targetOf(module);
  switch (target.getArch()) {
  case Triple::x86_64:
  case Triple::aarch64:
  case Triple::riscv64:
  case Triple::ppc64le:
  case Triple::loongarch64:
    return target.isOSBinFormatELF() && module.getDataLayout().getPointerSizeInBits() == 64;
  default:
    return false;
  }
}

Value *operandAt(const CallBase &call, Position position) {
  const SmallVector<Value *, 8> operands = operandsOf(call);
  const int at = position.resolve(static_cast<int>(operands.size()));
  return at < 0 ? nullptr : operands[static_cast<unsigned>(at)];
}

SmallVector<FoundCall> findCalls(Function &function, const KnownSymbols &symbols) {
  SmallVector<FoundCall> found;
  for (Instruction &instruction : instructions(function))
    if (auto *call = dyn_cast<CallBase>(&instruction))
      if (const Symbol *symbol = knownCallee(*call, symbols); symbol && !callObstacle(*call, *symbol))
        found.push_back({call, symbol});
  return found;
}

Eligibility::Eligibility(const Module &module, const KnownSymbols &symbols) : symbols_(symbols) {
  for (const GlobalIFunc &ifunc : module.ifuncs())
    resolvers_.insert(ifunc.getResolverFunction());
}

const char *Eligibility::obstacle(const Function &function) const {
  if (function.isDeclaration())
    return "there is no body";
  if (isOurs(function))
    return "it is a part of msleaks";
  if (function.hasAvailableExternallyLinkage())
    return "the function is compiled elsewhere, too";
  if (function.hasFnAttribute(Attribute::Naked))
    return "the function is naked";
  // The dynamic linker runs resolvers before it relocates the image. So an instrumented call in a resolver could crash.
  if (resolvers_.contains(&function))
    return "the function is the resolver of an ifunc";
  if (function.hasFnAttribute(Attribute::DisableSanitizerInstrumentation))
    return "the function has the attribute disable_sanitizer_instrumentation";
  if (symbols_.ignored(function))
    return "the function has the annotation msleaks.ignore";
  return nullptr;
}

void forEachEligible(Module &module, const KnownSymbols &symbols, function_ref<void(Function &)> visit) {
  const Eligibility eligibility(module, symbols);
  for (Function &function : module)
    if (!eligibility.obstacle(function))
      visit(function);
}

} // namespace msleaks::passes
