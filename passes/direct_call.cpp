#include "direct_call.h"

#include "runtime_decls.h"
#include "signature.h"

#include "msleaks/abi/direct_calls.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

using TypeOf = FunctionType *(LLVMContext &);

struct Row {
  const char *symbol, *hook, *with_site;
  TypeOf *type, *type_with_site;
};
constexpr Row kRows[] = {
#define MSL_DIRECT(symbol, result, ...)                                                                                \
  {#symbol, "__msl_hook_" #symbol, "__msl_direct_" #symbol, signatureOf<decltype(&__msl_hook_##symbol)>,               \
   signatureOf<decltype(&__msl_direct_##symbol)>},
#include "msleaks/abi/direct_calls.def"
};

const Row *rowOf(StringRef symbol) {
  const Row *row = find_if(kRows, [&](const Row &known) { return symbol == known.symbol; });
  return row != std::end(kRows) ? row : nullptr;
}

} // namespace

std::optional<DirectCall> directCallOf(const GateShape &shape) {
  auto *callee = dyn_cast<Function>(shape.callee);
  const bool is_plain = callee && callee->isDeclaration() && shape.convention == CallingConv::C &&
                        shape.type->getNumParams() == shape.arguments + 1;
  const Row *row = is_plain ? rowOf(callee->getName()) : nullptr;
  if (!row || shape.call_type != row->type(callee->getContext()))
    return std::nullopt;
  // The gate compares the addresses of the callee and the hook. It must load both from the GOT: in an executable at a
  // fixed address, the callee's address could be that of the executable's PLT entry.
  callee->setDSOLocal(false);
  Module &module = *callee->getParent();
  LLVMContext &context = module.getContext();
  return DirectCall{declareWeak(module, row->hook, row->type(context)).getCallee(),
                    declareWeak(module, row->with_site, row->type_with_site(context)).getCallee()};
}

} // namespace msleaks::passes
