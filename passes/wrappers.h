// Wrappers: functions that take blocks for their caller, as `xmalloc`, `new_node`, `make_image` do. Their caller wanted
// the block, so the report passes over them. A function is a wrapper if it hands out the block of a call in it. The
// callee is an allocator, or another wrapper of the module. The calls are found before the optimiser and kept in the
// module until its table of sites is written, since inlining takes functions apart:
//
//   define ptr @xmalloc(i64 %n) {
//     %p = call ptr @malloc(i64 %n), !dbg !12
//     ret ptr %p
//   }
//   →  !msleaks.wrappers = !{!7}
//      !7 = !{!"xmalloc", !"/src/xmalloc.c", i32 40, i32 13, i32 0}
//
// A function that the user named as a wrapper has an entry without a line, which stands for all its calls.
//
// If the result of another module's function is handed out too, the function is a wrapper only if that one is. The
// report knows it, since it has the tables of all modules and the path. Such calls are forwards.
#pragma once

#include "known_symbols.h"
#include "source_place.h"

#include <set>

namespace msleaks::passes {

// The calls that make functions wrappers. Calls in headers of the system are left out, since reports pass over such
// places anyway.
class WrapperCalls {
public:
  // Whether the place is a wrapper's or a forward. True also for any line of a function that the user named.
  bool contains(const SourcePlace &place) const;
  bool empty() const { return places_.empty() && forwards_.empty(); }
  const std::set<SourcePlace> &places() const { return places_; }
  const std::set<SourcePlace> &forwards() const { return forwards_; }
  void add(SourcePlace place);
  void addForward(SourcePlace place);

private:
  std::set<SourcePlace> places_, forwards_;
};

WrapperCalls findWrapperCalls(llvm::Module &module, const KnownSymbols &symbols);

void keepWrapperCalls(llvm::Module &module, const WrapperCalls &calls);
WrapperCalls keptWrapperCalls(const llvm::Module &module);
void dropWrapperCalls(llvm::Module &module);

} // namespace msleaks::passes
