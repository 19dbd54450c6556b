#include "direct_call.h"

#include "signature.h"

#include "msleaks/abi/direct_calls.h"

#include "llvm/IR/Module.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

struct Row {
  const char *symbol, *constant;
  FunctionType *(*type)(LLVMContext &);
};
constexpr Row kRows[] = {
#define MSL_DIRECT(symbol, result, ...) {#symbol, "__msl_direct_" #symbol, signatureOf<result (*)(__VA_ARGS__)>},
#include "msleaks/abi/direct_calls.def"
};

const Row *rowOf(StringRef symbol) {
  const Row *row = find_if(kRows, [&](const Row &known) { return symbol == known.symbol; });
  return row != std::end(kRows) ? row : nullptr;
}

} // namespace

GlobalVariable *directCallOf(const GateShape &shape) {
  auto *callee = dyn_cast<Function>(shape.callee);
  const bool is_plain = callee && callee->isDeclaration() && shape.convention == CallingConv::C &&
                        shape.type->getNumParams() == shape.arguments + 1;
  const Row *row = is_plain ? rowOf(callee->getName()) : nullptr;
  if (!row || shape.call_type != row->type(callee->getContext()))
    return nullptr;
  // Both addresses are read from the GOT, as those of callbacks are (RuntimeDecls). An executable at a fixed address
  // would otherwise compare with its own entry in the PLT.
  callee->setDSOLocal(false);
  Module &module = *callee->getParent();
  if (GlobalVariable *known = module.getGlobalVariable(row->constant))
    return known;
  Type *pointer = PointerType::get(callee->getContext(), 0);
  return new GlobalVariable(module, StructType::get(pointer, pointer), /*isConstant=*/true,
                            GlobalValue::ExternalWeakLinkage, nullptr, row->constant);
}

} // namespace msleaks::passes
