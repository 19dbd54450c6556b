#include "print_sites.h"

#include "destination.h"
#include "marks.h"
#include "site.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

StringRef orUnknown(StringRef text) { return text.empty() ? "?" : text; }

void print(raw_ostream &out, const SourcePlace &place) {
  out << sys::path::filename(orUnknown(place.file)) << ':' << place.line << ':' << place.column;
}

void print(raw_ostream &out, const Function &function, const Site &site) {
  out << function.getName() << ": " << site.callee << ' ' << abi::nameOf(site.verb) << ' ' << abi::nameOf(site.family)
      << " at ";
  print(out, site.place);
  out << " in " << site.place.function << " type=" << orUnknown(site.type) << " variable=" << orUnknown(site.variable);
  for (const SourcePlace &step : site.inlined_at) {
    out << " inlined at ";
    print(out, step);
    out << " in " << step.function;
  }
  out << '\n';
}

} // namespace

PreservedAnalyses PrintSitesPass::run(Module &module, ModuleAnalysisManager &) {
  if (!reportMistakes(*options_, module.getContext()) || options_->off || !targetIsSupported(module))
    return PreservedAnalyses::all();
  const KnownSymbols symbols(module, options_->rows);
  const WrapperCalls wrappers = findWrapperCalls(module, symbols);
  forEachEligible(module, symbols, [&](Function &function) {
    const SmallVector<FoundCall> calls = findCalls(function, symbols);
    if (calls.empty())
      return;
    const DestinationFinder destinations(function);
    for (const FoundCall &found : calls) {
      Site site = describe(found, wrappers);
      if (!markOf(*found.call)) {
        const Destination destination = destinations.find(*found.call, *found.symbol);
        site.type = destination.type;
        site.variable = destination.variable;
      }
      print(out_, function, site);
    }
  });
  for (const auto &[kind, places] : {std::pair("wrapper: ", &wrappers.places()), {"forward: ", &wrappers.forwards()}})
    for (const SourcePlace &place : *places) {
      out_ << kind << place.function << " at ";
      print(out_, place);
      out_ << '\n';
    }
  return PreservedAnalyses::all();
}

} // namespace msleaks::passes
