#include "annotations.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace msleaks::passes {

// @llvm.global.annotations = [ { function, "text", "file", line, arguments }, … ]
void forEachAnnotation(const Module &module, function_ref<void(const Function &, StringRef)> visit) {
  const GlobalVariable *list = module.getGlobalVariable("llvm.global.annotations");
  if (!list || !list->hasInitializer())
    return;
  for (const Use &use : list->getInitializer()->operands()) {
    const auto *entry = dyn_cast<ConstantStruct>(use.get());
    if (!entry || entry->getNumOperands() < 2)
      continue;
    const auto *function = dyn_cast<Function>(entry->getOperand(0)->stripPointerCasts());
    const auto *text = dyn_cast<GlobalVariable>(entry->getOperand(1)->stripPointerCasts());
    const auto *characters =
        text && text->hasInitializer() ? dyn_cast<ConstantDataSequential>(text->getInitializer()) : nullptr;
    if (function && characters && characters->isCString())
      visit(*function, characters->getAsCString());
  }
}

} // namespace msleaks::passes
