#include "remarks.h"

#include "compat.h"

#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LLVMRemarkStreamer.h"
#include "llvm/IR/Module.h"

#define DEBUG_TYPE "msleaks"

using namespace llvm;

// Statistics for clang's -save-stats, also in a build of LLVM without assertions.
ALWAYS_ENABLED_STATISTIC(Recorded, "Calls that are recorded");
ALWAYS_ENABLED_STATISTIC(TailCalls, "Recorded tail calls whose result only a hook can record");
ALWAYS_ENABLED_STATISTIC(LeftAlone, "Calls of known functions that are left alone");
ALWAYS_ENABLED_STATISTIC(OtherTargets, "Modules left alone, since their target has no runtime");

namespace msleaks::passes {
namespace {

constexpr char kPass[] = DEBUG_TYPE;

StringRef calleeOf(const CallBase &call) { return call.getCalledOperand()->stripPointerCasts()->getName(); }

void say(const CallBase &call, DiagnosticInfoOptimizationBase &remark) {
  OptimizationRemarkEmitter(call.getFunction()).emit(remark);
}

void sayMissed(const CallBase &call, StringRef why) {
  OptimizationRemarkMissed remark(kPass, "LeftAlone", &call);
  remark << "call of " << ore::NV("Callee", calleeOf(call)) << " is not recorded: " << why;
  say(call, remark);
}

// Reports with -Rpass-analysis that only a hook can record the result of this musttail call.
void sayTailCall(const CallBase &call) {
  OptimizationRemarkAnalysis remark(kPass, "TailCall", &call);
  remark << "call of " << ore::NV("Callee", calleeOf(call))
         << " must stay a tail call: only a hook can record what it returns";
  say(call, remark);
}

} // namespace

Remarks::Remarks(const Module &module) {
  const LLVMContext &context = module.getContext();
  wanted_ = context.getDiagHandlerPtr()->isAnyRemarkEnabled(kPass) ||
            const_cast<LLVMContext &>(context).getLLVMRemarkStreamer();
}

void Remarks::instrumented(const FoundCall &found, const Site &site) const {
  ++Recorded;
  TailCalls += found.call->isMustTailCall();
  if (!wanted_)
    return;
  const CallBase &call = *found.call;
  OptimizationRemark remark(kPass, "Recorded", &call);
  remark << "call of " << ore::NV("Callee", calleeOf(call)) << " is recorded as "
         << ore::NV("Verb", StringRef(abi::nameOf(site.verb))) << " of "
         << ore::NV("Family", StringRef(abi::nameOf(site.family)));
  if (!site.variable.empty())
    remark << ", variable " << ore::NV("Variable", StringRef(site.variable));
  if (!site.type.empty())
    remark << ", type " << ore::NV("Type", StringRef(site.type));
  say(call, remark);
  if (call.isMustTailCall())
    sayTailCall(call);
}

void Remarks::leftAlone(const Module &module, const KnownSymbols &symbols) const {
  if (!wanted_ && !AreStatisticsEnabled())
    return;
  const Eligibility eligibility(module, symbols);
  for (const Function &function : module) {
    const char *whole = eligibility.obstacle(function);
    for (const Instruction &instruction : instructions(function))
      if (const auto *call = dyn_cast<CallBase>(&instruction))
        if (const abi::Symbol *symbol = knownCallee(*call, symbols))
          if (const char *why = whole ? whole : callObstacle(*call, *symbol)) {
            ++LeftAlone;
            if (wanted_)
              sayMissed(*call, why);
          }
  }
}

void Remarks::otherTarget(const Module &module) const {
  ++OtherTargets;
  const auto first = find_if(module, [](const Function &function) { return !function.isDeclaration(); });
  if (!wanted_ || first == module.end())
    return;
  OptimizationRemarkMissed remark(kPass, "OtherTarget", DiagnosticLocation(first->getSubprogram()), &first->front());
  remark << "nothing in this module is recorded: there is no runtime for " << ore::NV("Target", targetOf(module).str());
  OptimizationRemarkEmitter(&*first).emit(remark);
}

} // namespace msleaks::passes
