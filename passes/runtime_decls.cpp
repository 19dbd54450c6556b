#include "runtime_decls.h"

#include "signature.h"

#include "msleaks/abi/callbacks.h"
#include "msleaks/abi/graph_table.h"
#include "msleaks/abi/site_table.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

struct Prototype {
  const char *name;
  FunctionType *(*type)(LLVMContext &);
};
constexpr Prototype kPrototypes[] = {
#define MSL_CALLBACK(name, doc, ...) {"__msl_" #name, signatureOf<decltype(&__msl_##name)>},
#include "msleaks/abi/callbacks.def"
};

Value *fit(IRBuilder<> &builder, Value *value, Type *type) {
  if (value->getType() == type)
    return value;
  if (value->getType()->isPointerTy())
    return type->isPointerTy() ? builder.CreateAddrSpaceCast(value, type) : builder.CreatePtrToInt(value, type);
  return type->isPointerTy() ? builder.CreateIntToPtr(value, type) : builder.CreateZExtOrTrunc(value, type);
}

} // namespace

// The functions are weak, so that the program links without a runtime. They are nonlazybind and not dso_local, so that
// their addresses are read from the GOT. There, every linker makes the address of an undefined function 0.
FunctionCallee declareWeak(Module &module, const char *name, FunctionType *type) {
  FunctionCallee callee = module.getOrInsertFunction(name, type);
  if (auto *function = dyn_cast<Function>(callee.getCallee()); function && function->isDeclaration()) {
    function->setLinkage(GlobalValue::ExternalWeakLinkage);
    function->setDSOLocal(false);
    function->addFnAttr(Attribute::NonLazyBind);
  }
  return callee;
}

FunctionCallee RuntimeDecls::declare(const char *name, FunctionType *type) {
  FunctionCallee callee = declareWeak(module_, name, type);
  if (auto *function = dyn_cast<Function>(callee.getCallee()); function && function->isDeclaration())
    function->addFnAttr(Attribute::NoUnwind);
  return callee;
}

void RuntimeDecls::call(IRBuilder<> &builder, Callback callback, ArrayRef<Value *> arguments) {
  const Prototype &prototype = kPrototypes[static_cast<unsigned>(callback)];
  FunctionType *type = prototype.type(module_.getContext());
  assert(arguments.size() == type->getNumParams() && "a callback takes what callbacks.def says");
  SmallVector<Value *> fitted;
  for (const auto &[value, parameter] : zip_equal(arguments, type->params()))
    fitted.push_back(fit(builder, value, parameter));
  builder.CreateCall(declare(prototype.name, type), fitted)->setDoesNotThrow();
}

FunctionCallee RuntimeDecls::arm() {
  return declare("__msl_arm_v2", signatureOf<decltype(&__msl_arm_v2)>(module_.getContext()));
}

FunctionCallee RuntimeDecls::disarm() {
  return declare("__msl_disarm_v2", signatureOf<decltype(&__msl_disarm_v2)>(module_.getContext()));
}

FunctionCallee RuntimeDecls::countersOf() {
  return declare("__msl_counters_of", signatureOf<decltype(&__msl_counters_of)>(module_.getContext()));
}

FunctionCallee RuntimeDecls::uncount() {
  return declare("__msl_uncount", signatureOf<decltype(&__msl_uncount)>(module_.getContext()));
}

} // namespace msleaks::passes
