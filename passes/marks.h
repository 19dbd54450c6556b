// Marks are kept twice: on the call, and in a table of the module.
//
//   %p = call ptr @malloc(i64 64), !msleaks !7
//   !msleaks.marks = !{!7}
//   !7 = !{!"weights", !"float", i32 3, !"make", !"/src/net.c", i32 12, i32 20, i32 0}
//
// The optimiser drops unknown metadata where it replaces a call. It does so when it inlines a call into a function with
// cleanups, folds malloc and memset into calloc, or merges two branches. The debug location stays, and the mark is
// found again by it. If several marks of one place differ, only their common part counts.
#pragma once

#include "source_place.h"

#include "msleaks/abi/symbols.h"

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
  std::string variable; // destination as in the source, empty = not known
  std::string type;     // element type, empty = not known
  uint32_t ordinal = 0; // which one of the function's calls it is, from 1; 0 = not known
  SourcePlace place;    // without debug information only the function and the module's file
};

struct MarkedCall {
  llvm::CallBase *call;
  abi::Verb verb;
  Mark mark; // its place is that of the call
};

// Marks all calls in one function.
void attachMarks(llvm::Function &function, llvm::ArrayRef<MarkedCall> calls);
std::optional<Mark> markOf(const llvm::CallBase &call);

// Whether the call must not be instrumented: the user ignores it, or it is instrumented already. An attribute of the
// call says so, which inlining and linking keep.
void leaveAlone(llvm::CallBase &call);
bool isLeftAlone(const llvm::CallBase &call);

// Leaves every call of an ignored function alone, and every call that the optimiser makes from one.
void ignoreFunction(llvm::Function &function, llvm::ArrayRef<llvm::CallBase *> calls);

// Restores the marks of calls that lost their metadata, from the table.
void restoreMarks(llvm::Module &module, const KnownSymbols &symbols);

// Removes all marks again, except the attributes of calls that are left alone.
void dropMarks(llvm::Module &module);

} // namespace msleaks::passes
