#include "site.h"

#include "mark.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

std::string plainName(const GlobalValue &value) { return GlobalValue::dropLLVMManglingEscape(value.getName()).str(); }

// Without "./", which one build system writes and another does not; ".." stays, since a link may stand before it.
std::string pathOf(const DIFile *file) {
  if (!file)
    return {};
  SmallString<256> path = file->getFilename();
  if (!path.empty() && !sys::path::is_absolute(path)) {
    path = file->getDirectory();
    sys::path::append(path, file->getFilename());
  }
  sys::path::remove_dots(path, /*remove_dot_dot=*/false);
  return path.str().str();
}

SourcePlace placeOf(const DILocation &location) {
  SourcePlace place;
  if (const DISubprogram *function = location.getScope()->getSubprogram()) {
    const StringRef linkageName = function->getLinkageName();
    place.function = (linkageName.empty() ? function->getName() : linkageName).str();
  }
  place.file = pathOf(location.getFile());
  place.line = location.getLine();
  place.column = location.getColumn();
  return place;
}

// One text for all that the id stands for. NUL cannot be part of a name, so no two sites look the same.
void append(std::string &text, const SourcePlace &place) {
  for (const std::string &part :
       {place.file, place.function, std::to_string(place.line), std::to_string(place.column)}) {
    text += part;
    text += '\0';
  }
}

} // namespace

uint64_t Site::id() const {
  std::string text;
  append(text, place);
  for (const SourcePlace &step : inlined_at)
    append(text, step);
  text += callee;
  text += '\0';
  text += std::to_string(ordinal);
  return xxh3_64bits(text);
}

Site describe(const FoundCall &found) {
  const CallBase &call = *found.call;
  Site site;
  if (const DILocation *location = call.getDebugLoc().get()) {
    site.place = placeOf(*location);
    while ((location = location->getInlinedAt()))
      site.inlined_at.push_back(placeOf(*location));
  } else {
    site.place.function = plainName(*call.getFunction());
    site.place.file = call.getModule()->getSourceFileName();
  }
  site.callee = plainName(*cast<Function>(call.getCalledOperand()->stripPointerCasts()));
  if (const auto mark = markOf(call)) {
    site.type = mark->type.str();
    site.variable = mark->variable.str();
    site.ordinal = mark->ordinal;
  }
  site.verb = found.symbol->verb;
  site.family = found.symbol->family;
  site.heap = found.symbol->heap;
  return site;
}

} // namespace msleaks::passes
