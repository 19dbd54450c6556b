#include "rewrite.h"

#include "attributes.h"
#include "compat.h"
#include "find.h"
#include "gate.h"
#include "guard.h"
#include "host_copies.h"
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

// The calls of a module that are instrumented. They are in one list, in the order of their rows: first those of
// allocators and operations, then copies within the memory of the host.
struct TakenCalls {
  SmallVector<FoundCall> all;
  size_t known = 0; // the copies follow

  ArrayRef<FoundCall> ofKnown() const { return ArrayRef(all).take_front(known); }
  ArrayRef<FoundCall> copies() const { return ArrayRef(all).drop_front(known); }
};

TakenCalls takeCalls(Module &module, const KnownSymbols &symbols, Stage stage) {
  TakenCalls calls;
  SmallVector<FoundCall> copies;
  forEachEligible(module, symbols, [&](Function &function) {
    if (function.isPresplitCoroutine()) // CoroSplit needs the unchanged code, to find suspension points
      return;
    const bool is_whole = stage == Stage::Compile || awaitsRewrite(function);
    for (const FoundCall &found : findCalls(function, symbols))
      if (is_whole || markOf(*found.call))
        calls.all.push_back(found);
    if (is_whole)
      copies.append(findHostCopies(function));
  });
  calls.known = calls.all.size();
  calls.all.append(copies);
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
void rewrite(Module &module, const TakenCalls &calls, const WrapperCalls &wrappers, const KnownSymbols &symbols,
             const Remarks &remarks) {
  SiteTable table(module.getSourceFileName(), kProducer);
  SmallVector<uint32_t> rows;
  for (const FoundCall &found : calls.all) {
    const Site site = describe(found, wrappers);
    remarks.instrumented(found, site);
    rows.push_back(table.add(site));
  }
  table.setWrappers(wrappers);
  GlobalVariable *unit = makeUnit(module);
  RuntimeDecls runtime(module);
  const ArrayRef<uint32_t> all(rows);
  SetVector<Function *> recording = redirect(calls.ofKnown(), all.take_front(calls.known), symbols, *unit, runtime);
  for (const auto &[copy, row] : zip_equal(calls.copies(), all.drop_front(calls.known))) {
    recording.insert(copy.call->getFunction());
    recordHostCopy(copy, row, *unit, runtime);
  }
  dropUntrueAttributes(recording);
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
  const TakenCalls calls = takeCalls(module, symbols, stage_);
  const WrapperCalls wrappers = keptWrapperCalls(module);
  if (!calls.all.empty() || !wrappers.empty()) {
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
