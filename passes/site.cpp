#include "site.h"

#include "compat.h"
#include "marks.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <algorithm>

using namespace llvm;

namespace msleaks::passes {
namespace {

// Appends a place to the text that is hashed. Parts end with NUL, which no name contains. So different sites have
// different texts.
void appendPlace(std::string &text, const SourcePlace &place) {
  for (const std::string &part :
       {place.file, place.function, std::to_string(place.line), std::to_string(place.column)}) {
    text += part;
    text += '\0';
  }
}

} // namespace

uint64_t Site::id() const {
  std::string text;
  appendPlace(text, place);
  for (const SourcePlace &step : inlined_at)
    appendPlace(text, step);
  text += callee;
  text += '\0';
  text += std::to_string(ordinal);
  return hashOf(text);
}

Site describe(const FoundCall &found, const WrapperCalls &wrappers) {
  const CallBase &call = *found.call;
  Site site;
  const auto mark = markOf(call);
  if (const DILocation *location = call.getDebugLoc().get()) {
    site.place = placeOf(*location);
    while ((location = location->getInlinedAt()))
      site.inlined_at.push_back(placeOf(*location));
  } else if (mark) {
    site.place = mark->place;
  } else {
    site.place = placeOf(call);
  }
  site.callee = isa<IntrinsicInst>(call) ? std::string(found.symbol->name)
                                         : plainName(*cast<Function>(call.getCalledOperand()->stripPointerCasts()));
  if (mark) {
    site.type = mark->type;
    site.variable = mark->variable;
    site.ordinal = mark->ordinal;
  }
  const auto isOwn = [&](const SourcePlace &line) { return !isOfSystem(line) && !wrappers.contains(line); };
  site.wants_path = !isOwn(site.place) && std::none_of(site.inlined_at.begin(), site.inlined_at.end(), isOwn);
  site.verb = found.symbol->verb;
  site.family = found.symbol->family;
  site.heap = found.symbol->heap;
  return site;
}

} // namespace msleaks::passes
