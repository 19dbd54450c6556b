// A mark contains facts about a call from the unoptimised IR (mark.h). It is stored twice: at its call, and in a table
// of the module.
//
//   %p = call ptr @malloc(i64 64), !msleaks !7
//   !msleaks.marks = !{!7}
//   !7 = !{!"weights", !"float", i32 3, !"make", !"/src/net.c", i32 12, i32 20, i32 0}
//
// When the optimiser replaces a call, for example malloc and memset by calloc, the new call has no mark. But it has the
// debug location of the old call, if there is one. restoreMarks finds the mark in the table by this location. If
// several marks of one location differ, only the facts that they share are used.
#pragma once

#include "source_place.h"

#include "msleaks/abi/symbol.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace llvm {
class CallBase;
class Function;
class Module;
} // namespace llvm

namespace msleaks::passes {

class KnownSymbols;

struct Mark {
  std::string variable; // name of the destination in the source; empty = not known
  std::string type;     // element type, empty = not known
  uint32_t ordinal = 0; // number of the call in its function, beginning at 1; 0 = not known
  SourcePlace place;    // without debug information it has only the function and the module's file
};

struct MarkedCall {
  llvm::CallBase *call;
  abi::Verb verb;
  Mark mark; // mark.place is the place of the call
};

// Marks the calls. `calls` must contain all calls of the function that get a mark.
void attachMarks(llvm::Function &function, llvm::ArrayRef<MarkedCall> calls);
std::optional<Mark> markOf(const llvm::CallBase &call);

// Excludes a call from instrumentation, by an attribute of the call. Inlining and linking copy this attribute.
void leaveAlone(llvm::CallBase &call);
bool isLeftAlone(const llvm::CallBase &call);

// Excludes the calls in an ignored function. If the function has debug information, also excludes the calls by which
// the optimiser later replaces them.
void ignoreFunction(llvm::Function &function, llvm::ArrayRef<llvm::CallBase *> calls);

// Restores the marks of calls that lost their metadata, from the table.
void restoreMarks(llvm::Module &module, const KnownSymbols &symbols);

// Removes all marks again, except the attributes that leaveAlone has set.
void dropMarks(llvm::Module &module);

} // namespace msleaks::passes
