// A wrapper is a function that allocates blocks for its caller, such as `xmalloc`, `new_node` or `make_image`. The
// report names the caller of a wrapper instead of the wrapper, since the caller needs the block. A function is a
// wrapper if it calls an allocator, or another wrapper of the module, and only returns the block of this call
// (handed_out.h). A function that only returns a file descriptor of a call is also a wrapper. These calls are found
// before the optimiser runs, which may inline wrappers. They are stored in the module until its table of sites is
// written:
//
//   define ptr @xmalloc(i64 %n) {
//     %p = call ptr @malloc(i64 %n), !dbg !12
//     ret ptr %p
//   }
//   →  !msleaks.wrappers = !{!7}
//      !7 = !{!"xmalloc", !"/src/xmalloc.c", i32 40, i32 13, i32 0}
//
// A function that the user named as a wrapper has an entry without a line, which represents all its calls.
//
// A function may also return the result of another module's function. This call is named a *forward*. The function is a
// wrapper only if the other module's function is one. The report decides this, since it has the tables of all modules.
#pragma once

#include "known_symbols.h"
#include "source_place.h"

#include <set>

namespace msleaks::passes {

// The calls that make functions wrappers, and the forwards. Excludes calls in headers of the system, which reports
// always skip.
class WrapperCalls {
public:
  // Whether a call at this place makes a function a wrapper, or is a forward. True for each place in a function that
  // the user named as a wrapper.
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
