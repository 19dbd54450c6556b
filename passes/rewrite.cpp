#include "rewrite.h"

#include "attributes.h"
#include "compat.h"
#include "find.h"
#include "gate.h"
#include "guard.h"
#include "link.h"
#include "marks.h"
#include "pin.h"
#include "remarks.h"
#include "runtime_decls.h"
#include "site_table.h"
#include "unit.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

// Whether the call is a free inside a function that frees the same family, such as the program's own operator delete.
bool isInnerFree(const FoundCall &found, const KnownSymbols &symbols) {
  const abi::Symbol *enclosing = symbols.find(*found.call->getFunction());
  return found.symbol->verb == abi::Verb::Free && enclosing && enclosing->verb == abi::Verb::Free &&
         enclosing->family == found.symbol->family;
}

SmallVector<FoundCall> takeCalls(Module &module, const KnownSymbols &symbols, Stage stage) {
  SmallVector<FoundCall> calls;
  forEachEligible(module, symbols, [&](Function &function) {
    if (function.isPresplitCoroutine()) // CoroSplit needs the unchanged code, to find suspension points
      return;
    for (const FoundCall &found : findCalls(function, symbols))
      if (stage == Stage::Compile || awaitsRewrite(function) || markOf(*found.call))
        calls.push_back(found);
  });
  return calls;
}

// Redirects each call to its gate, or inserts a guard before a musttail call. Returns the functions with these calls.
SetVector<Function *> redirect(ArrayRef<FoundCall> calls, ArrayRef<uint32_t> rows, const KnownSymbols &symbols,
                               GlobalVariable &unit, RuntimeDecls &runtime) {
  Gates gates(unit, runtime);
  SetVector<Function *> recording;
  for (const auto &[found, row] : zip_equal(calls, rows)) {
    const CallKind kind = {*found.symbol, isInnerFree(found, symbols)};
    recording.insert(found.call->getFunction());
    if (found.call->isMustTailCall()) {
      guardTailCall(*found.call, kind, row, unit, runtime);
      leaveAlone(*found.call);
    } else {
      gates.redirect(*found.call, kind, row);
    }
  }
  return recording;
}

// Instruments the calls, and writes the table of sites and wrappers.
void rewrite(Module &module, ArrayRef<FoundCall> calls, const WrapperCalls &wrappers, const KnownSymbols &symbols,
             const Remarks &remarks) {
  SiteTable table(module.getSourceFileName(), kProducer);
  SmallVector<uint32_t> rows;
  for (const FoundCall &found : calls) {
    const Site site = describe(found, wrappers);
    remarks.instrumented(found, site);
    rows.push_back(table.add(site));
  }
  table.setWrappers(wrappers);
  GlobalVariable *unit = makeUnit(module);
  RuntimeDecls runtime(module);
  dropUntrueAttributes(redirect(calls, rows, symbols, *unit, runtime));
  finishUnit(*unit, table.bytes());
}

} // namespace

PreservedAnalyses RewritePass::run(Module &module, ModuleAnalysisManager &) {
  const bool right =
      mistakes_ == Mistakes::Report ? reportMistakes(*options_, module.getContext()) : options_->error.empty();
  if (!right || options_->off || (stage_ == Stage::Link && !awaitsRewrite(module)))
    return PreservedAnalyses::all();
  const Remarks remarks(module);
  if (!targetIsSupported(module)) {
    remarks.otherTarget(module);
    return PreservedAnalyses::all();
  }
  const KnownSymbols symbols(module, options_->rows);
  restoreMarks(module, symbols);
  if (stage_ == Stage::Compile) // a link may have modules that are not rewritten; their calls must not be reported
    remarks.leftAlone(module, symbols);
  const SmallVector<FoundCall> calls = takeCalls(module, symbols, stage_);
  const WrapperCalls wrappers = keptWrapperCalls(module);
  if (!calls.empty() || !wrappers.empty()) {
    rewrite(module, calls, wrappers, symbols, remarks);
    if (stage_ == Stage::Compile)
      addImageFunctions(module);
  }
  unpin(module);
  dropMarks(module);
  dropWrapperCalls(module);
  return PreservedAnalyses::none();
}

} // namespace msleaks::passes
