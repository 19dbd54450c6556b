#include "mark.h"

#include "compat.h"
#include "destination.h"
#include "find.h"
#include "pin.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

constexpr char kMarkKind[] = "msleaks";
enum MarkOperand : unsigned { kVariable, kType, kOrdinal, kIgnored, kMarkOperands };

void attach(CallBase &call, const Mark &mark) {
  LLVMContext &context = call.getContext();
  const auto number = [&](uint32_t value) {
    return ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(context), value));
  };
  Metadata *operands[kMarkOperands] = {MDString::get(context, mark.variable), MDString::get(context, mark.type),
                                       number(mark.ordinal), number(mark.ignored)};
  call.setMetadata(kMarkKind, MDNode::get(context, operands));
}

void markCalls(Function &function, const KnownSymbols &symbols) {
  const SmallVector<FoundCall> calls = findCalls(function, symbols);
  if (calls.empty())
    return;
  DestinationFinder destinations(function);
  uint32_t ordinal = 0;
  for (const auto &[call, symbol] : calls) {
    const Destination destination = destinations.find(*call, *symbol);
    attach(*call, {destination.variable, destination.type, ++ordinal, /*ignored=*/false});
  }
}

// An ignored function may be inlined into one that is not.
void markIgnored(Module &module, const KnownSymbols &symbols) {
  for (Function &function : module)
    if (symbols.ignored(function))
      for (const FoundCall &found : findCalls(function, symbols))
        attach(*found.call, {"", "", 0, /*ignored=*/true});
}

// Inlined, an allocator that the user named would not be seen; renamed or split apart neither.
void keepFunction(Module &module, Function &function) {
  if (function.isDeclaration())
    return;
  function.removeFnAttr(Attribute::AlwaysInline);
  function.addFnAttr(Attribute::NoInline);
  if (function.hasLocalLinkage())
    appendToCompilerUsed(module, {&function});
}

void pinNamed(Module &module, const KnownSymbols &symbols) {
  for (const Function *named : symbols.named()) {
    Function &function = *module.getFunction(named->getName());
    pinRow(function, *symbols.find(function));
    keepFunction(module, function);
  }
  forEachEligible(module, symbols, [&](Function &function) {
    for (const FoundCall &found : findCalls(function, symbols))
      if (const Function *callee = found.call->getCalledFunction(); callee && symbols.named().contains(callee))
        pin(*found.call);
  });
}

} // namespace

std::optional<Mark> markOf(const CallBase &call) {
  const MDNode *node = call.getMetadata(kMarkKind);
  if (!node || node->getNumOperands() != kMarkOperands)
    return std::nullopt;
  const auto text = [&](MarkOperand at) { return cast<MDString>(node->getOperand(at))->getString(); };
  const auto number = [&](MarkOperand at) {
    return static_cast<uint32_t>(mdconst::extract<ConstantInt>(node->getOperand(at))->getZExtValue());
  };
  return Mark{text(kVariable), text(kType), number(kOrdinal), number(kIgnored) != 0};
}

void dropMark(CallBase &call) { call.setMetadata(kMarkKind, nullptr); }

PreservedAnalyses MarkPass::run(Module &module, ModuleAnalysisManager &) {
  if (!reportMistakes(*options_, module.getContext()) || options_->off || !targetIsSupported(module))
    return PreservedAnalyses::all();
  const KnownSymbols symbols(module, options_->rows);
  if (!symbols.error().empty()) {
    module.getContext().emitError("msleaks: " + symbols.error());
    return PreservedAnalyses::all();
  }
  forEachEligible(module, symbols, [&](Function &function) { markCalls(function, symbols); });
  markIgnored(module, symbols);
  pinNamed(module, symbols);
  return PreservedAnalyses::none();
}

} // namespace msleaks::passes
