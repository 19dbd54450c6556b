#include "source_place.h"

#include "msleaks/abi/system_header.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

// Returns the path of the file, with its directory. Removes "./", which some build systems write and others do not.
// Keeps "..", since the component before it may be a symbolic link.
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

} // namespace

SourcePlace placeOf(const DISubprogram &function) {
  const StringRef linkageName = function.getLinkageName();
  return {(linkageName.empty() ? function.getName() : linkageName).str(), pathOf(function.getFile())};
}

SourcePlace placeOf(const DILocation &location) {
  SourcePlace place;
  if (const DISubprogram *function = location.getScope()->getSubprogram())
    place = placeOf(*function);
  place.file = pathOf(location.getFile());
  place.line = location.getLine();
  place.column = location.getColumn();
  return place;
}

SourcePlace placeOf(const Function &function) {
  if (const DISubprogram *subprogram = function.getSubprogram())
    return placeOf(*subprogram);
  return {plainName(function), function.getParent()->getSourceFileName()};
}

SourcePlace placeOf(const CallBase &call) {
  if (const DILocation *location = call.getDebugLoc().get())
    return placeOf(*location);
  return {plainName(*call.getFunction()), call.getModule()->getSourceFileName()};
}

bool isOfSystem(const SourcePlace &place) { return abi::isSystemPath(place.file); }

std::string plainName(const GlobalValue &value) { return GlobalValue::dropLLVMManglingEscape(value.getName()).str(); }

} // namespace msleaks::passes
