#include "mark.h"

#include "compat.h"
#include "destination.h"
#include "find.h"
#include "marks.h"
#include "pin.h"
#include "wrappers.h"

#include "llvm/ADT/Statistic.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#define DEBUG_TYPE "msleaks"

using namespace llvm;

ALWAYS_ENABLED_STATISTIC(Marked, "Calls that were marked before the optimiser");

namespace msleaks::passes {
namespace {

void markCalls(Function &function, const KnownSymbols &symbols) {
  const SmallVector<FoundCall> calls = findCalls(function, symbols);
  if (calls.empty())
    return;
  const DestinationFinder destinations(function);
  std::vector<MarkedCall> marked;
  uint32_t ordinal = 0;
  for (const auto &[call, symbol] : calls) {
    const Destination destination = destinations.find(*call, *symbol);
    marked.push_back({call, symbol->verb, {destination.variable, destination.type, ++ordinal, placeOf(*call)}});
  }
  Marked += calls.size();
  attachMarks(function, marked);
}

// Excludes the calls in ignored functions, by an attribute of each call: an ignored function may be inlined into
// another one.
void markIgnored(Module &module, const KnownSymbols &symbols) {
  for (Function &function : module)
    if (symbols.ignored(function)) {
      SmallVector<CallBase *> calls;
      for (const FoundCall &found : findCalls(function, symbols))
        calls.push_back(found.call);
      ignoreFunction(function, calls);
    }
}

// Prevents the optimiser from inlining, renaming or splitting an allocator that the user named. Otherwise, the rewrite
// could not find its calls.
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

PreservedAnalyses MarkPass::run(Module &module, ModuleAnalysisManager &) {
  if (!reportMistakes(*options_, module.getContext()) || options_->off || !targetIsSupported(module))
    return PreservedAnalyses::all();
  const KnownSymbols symbols(module, options_->rows);
  if (!symbols.error().empty()) {
    module.getContext().emitError("msleaks: " + symbols.error());
    return PreservedAnalyses::all();
  }
  forEachEligible(module, symbols, [&](Function &function) { markCalls(function, symbols); });
  keepWrapperCalls(module, findWrapperCalls(module, symbols));
  markIgnored(module, symbols);
  pinNamed(module, symbols);
  return PreservedAnalyses::none();
}

} // namespace msleaks::passes
