#include "attributes.h"

#include "compat.h"

#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/InstrTypes.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

// These attributes become untrue when a function records events. Recording accesses memory, synchronizes with other
// threads, and may wait.
constexpr Attribute::AttrKind kOfFunctions[] = {Attribute::Memory,     Attribute::NoFree,     Attribute::NoSync,
                                                Attribute::WillReturn, Attribute::NoCallback, Attribute::Speculatable};
// Some allocators store the block's address through a pointer parameter. A callback then reads this memory, so these
// attributes of the parameter become untrue.
constexpr Attribute::AttrKind kOfParameters[] = {Attribute::ReadNone, Attribute::WriteOnly};

template <typename Kinds> AttributeMask maskOf(const Kinds &kinds) {
  AttributeMask mask;
  for (const Attribute::AttrKind kind : kinds)
    mask.addAttribute(kind);
  return mask;
}

struct Untrue {
  AttributeMask of_functions = maskOf(kOfFunctions), of_parameters = maskOf(kOfParameters);

  template <typename Callable> void dropFrom(Callable &callable) const {
    callable.removeFnAttrs(of_functions);
    for (unsigned i = 0; i < callable.arg_size(); ++i)
      callable.removeParamAttrs(i, of_parameters);
  }
};

void addCallers(const Value &callee, const Untrue &untrue, SetVector<Function *> &functions) {
  for (const Use &use : callee.uses()) {
    if (auto *call = dyn_cast<CallBase>(use.getUser()); call && call->isCallee(&use)) {
      untrue.dropFrom(*call);
      functions.insert(call->getFunction());
    } else if (const auto *alias = dyn_cast<GlobalAlias>(use.getUser())) {
      addCallers(*alias, untrue, functions);
    }
  }
}

} // namespace

void dropUntrueAttributes(SetVector<Function *> recording) {
  const Untrue untrue;
  for (unsigned i = 0; i < recording.size(); ++i) { // addCallers appends to the vector
    untrue.dropFrom(*recording[i]);
    addCallers(*recording[i], untrue, recording);
  }
}

} // namespace msleaks::passes
