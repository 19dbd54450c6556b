#include "link.h"

#include "find.h"
#include "marks.h"
#include "pin.h"
#include "unit.h"

#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

constexpr char kModuleFlag[] = "msleaks.link";
constexpr char kFunctionAttribute[] = "msleaks-link";

bool isOff(const Options &options, const Module &module) {
  return !options.error.empty() || options.off || !targetIsSupported(module);
}

} // namespace

// clang sets one of these module flags before the passes run, and only if the compile produces bitcode for LTO.
bool isBeforeLink(const Module &module) {
  return module.getModuleFlag("EnableSplitLTOUnit") || module.getModuleFlag("ThinLTO") ||
         module.getModuleFlag("UnifiedLTO");
}

bool awaitsRewrite(const Module &module) { return module.getModuleFlag(kModuleFlag) != nullptr; }
bool awaitsRewrite(const Function &function) { return function.hasFnAttribute(kFunctionAttribute); }

PreservedAnalyses PrepareLinkPass::run(Module &module, ModuleAnalysisManager &) {
  if (isOff(*options_, module))
    return PreservedAnalyses::all();
  const KnownSymbols symbols(module, options_->rows);
  restoreMarks(module, symbols);
  bool calls = false;
  forEachEligible(module, symbols, [&](Function &function) {
    function.addFnAttr(kFunctionAttribute);
    calls |= !findCalls(function, symbols).empty();
  });
  settlePins(module);
  module.addModuleFlag(Module::Max, kModuleFlag, 1);
  // The constructor must exist before the link: the linker keeps one of the modules' constructors before its optimiser
  // runs.
  if (calls)
    addImageFunctions(module);
  return PreservedAnalyses::none();
}

PreservedAnalyses PinAgainPass::run(Module &module, ModuleAnalysisManager &) {
  if (isOff(*options_, module) || !awaitsRewrite(module))
    return PreservedAnalyses::all();
  const KnownSymbols symbols(module, options_->rows);
  forEachEligible(module, symbols, [&](Function &function) {
    for (const FoundCall &found : findCalls(function, symbols))
      if (const Function *callee = found.call->getCalledFunction(); callee && pinnedRow(*callee))
        pin(*found.call);
  });
  return PreservedAnalyses::none();
}

} // namespace msleaks::passes
