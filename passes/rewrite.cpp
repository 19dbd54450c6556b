#include "rewrite.h"

#include "attributes.h"
#include "compat.h"
#include "find.h"
#include "gate.h"
#include "guard.h"
#include "link.h"
#include "marks.h"
#include "pin.h"
#include "runtime_decls.h"
#include "site_table.h"
#include "unit.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

constexpr char kProducer[] = "MemPass " MSL_VERSION " LLVM " LLVM_VERSION_STRING;

// Null, or why the call is left alone.
const char *obstacle(const CallBase &call) { return call.isMustTailCall() ? nullptr : gateObstacle(call); }

// The free() in an operator delete of the program's own.
bool isInnerFree(const FoundCall &found, const KnownSymbols &symbols) {
  const abi::Symbol *enclosing = symbols.find(*found.call->getFunction());
  return found.symbol->verb == abi::Verb::Free && enclosing && enclosing->verb == abi::Verb::Free &&
         enclosing->family == found.symbol->family;
}

SmallVector<FoundCall> takeCalls(Module &module, const KnownSymbols &symbols, Stage stage) {
  SmallVector<FoundCall> calls;
  forEachEligible(module, symbols, [&](Function &function) {
    if (function.isPresplitCoroutine()) // what stands between its suspension points is cut out by shape
      return;
    for (const FoundCall &found : findCalls(function, symbols))
      if ((stage == Stage::Compile || awaitsRewrite(function) || markOf(*found.call)) && !obstacle(*found.call))
        calls.push_back(found);
  });
  return calls;
}

} // namespace

PreservedAnalyses RewritePass::run(Module &module, ModuleAnalysisManager &) {
  const bool right =
      mistakes_ == Mistakes::Report ? reportMistakes(*options_, module.getContext()) : options_->error.empty();
  if (!right || options_->off || !targetIsSupported(module) || (stage_ == Stage::Link && !awaitsRewrite(module)))
    return PreservedAnalyses::all();
  const KnownSymbols symbols(module, options_->rows);
  restoreMarks(module, symbols);
  SmallVector<FoundCall> calls = takeCalls(module, symbols, stage_);
  if (calls.empty()) {
    unpin(module);
    dropMarks(module);
    return PreservedAnalyses::none();
  }
  GlobalVariable *unit = makeUnit(module);
  RuntimeDecls runtime(module);
  SiteTable table(module.getSourceFileName(), kProducer);
  SmallVector<uint32_t> rows;
  for (const FoundCall &found : calls)
    rows.push_back(table.add(describe(found)));
  Gates gates(*unit, runtime);
  SetVector<Function *> recording;
  for (const auto &[found, row] : zip_equal(calls, rows)) {
    const CallKind kind = {*found.symbol, isInnerFree(found, symbols)};
    if (found.call->isMustTailCall()) {
      guardTailCall(*found.call, kind, row, *unit, runtime);
      leaveAlone(*found.call);
    } else {
      found.call = &gates.redirect(*found.call, kind, row);
    }
    recording.insert(found.call->getFunction());
  }
  dropUntrueAttributes(std::move(recording));
  unpin(module);
  dropMarks(module);
  const std::string bytes = table.bytes();
  finishUnit(*unit, bytes);
  if (stage_ == Stage::Compile)
    addImageFunctions(module);
  return PreservedAnalyses::none();
}

} // namespace msleaks::passes
