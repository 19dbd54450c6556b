#include "pin.h"

#include "compat.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

constexpr char kBundle[] = "msleaks";
constexpr char kRowAttribute[] = "msleaks-row";

void replace(CallBase &call, CallBase &replacement) {
  replacement.copyMetadata(call);
  replacement.takeName(&call);
  call.replaceAllUsesWith(&replacement);
  call.eraseFromParent();
}

void dropBundle(CallBase &call) {
  const uint32_t tag = call.getContext().getOrInsertBundleTag(kBundle)->getValue();
  replace(call, *CallBase::removeOperandBundle(&call, tag, before(call)));
}

} // namespace

void pin(CallBase &call) {
  // A musttail call needs no bundle: no pass deletes it, since its result is returned directly.
  if (call.isMustTailCall() || call.getOperandBundle(kBundle))
    return;
  const std::vector<Value *> operands(call.arg_begin(), call.arg_end());
  const OperandBundleDef bundle(kBundle, operands);
  replace(call, *CallBase::addOperandBundle(&call, call.getContext().getOrInsertBundleTag(kBundle)->getValue(), bundle,
                                            before(call)));
}

void pinRow(Function &function, const abi::Symbol &symbol) { function.addFnAttr(kRowAttribute, rowText(symbol)); }

std::optional<abi::Symbol> pinnedRow(const Function &function) {
  const Attribute attribute = function.getFnAttribute(kRowAttribute);
  if (!attribute.isValid())
    return std::nullopt;
  UserRow row;
  if (!parseRow(std::string_view(attribute.getValueAsString()), row).empty())
    return std::nullopt;
  return row.symbol;
}

SmallVector<Value *, 8> operandsOf(const CallBase &call) {
  if (const auto bundle = call.getOperandBundle(kBundle))
    return {bundle->Inputs.begin(), bundle->Inputs.end()};
  return {call.arg_begin(), call.arg_end()};
}

void settlePins(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function)))
      if (auto *call = dyn_cast<CallBase>(&instruction))
        if (const auto bundle = call->getOperandBundle(kBundle)) {
          for (const auto &[at, operand] : enumerate(bundle->Inputs))
            call->setArgOperand(static_cast<unsigned>(at), operand.get());
          dropBundle(*call);
        }
}

bool hasForeignBundle(const CallBase &call) {
  const unsigned bundles = call.getNumOperandBundles();
  return bundles > (bundles && call.getOperandBundle(kBundle) ? 1u : 0u);
}

void unpin(Module &module) {
  for (Function &function : module) {
    function.removeFnAttr(kRowAttribute);
    for (Instruction &instruction : make_early_inc_range(instructions(function)))
      if (auto *call = dyn_cast<CallBase>(&instruction); call && call->getOperandBundle(kBundle))
        dropBundle(*call);
  }
}

} // namespace msleaks::passes
