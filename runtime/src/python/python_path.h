// The calls of Python code in a call path. A path's calls of the interpreter's own functions say nothing about the
// Python code that the interpreter runs. So the node of such a path gets a child, the *join*. The join contains the
// node of the innermost call of Python code. A report puts both lists of calls together (docs/call-paths.md).
#pragma once

#include "calls.h"
#include "module_codes.h"
#include "recent_joins.h"

#include "../path_tree.h"

#include "msleaks/runtime/path.h"

namespace msleaks::runtime::python {

// The calls of a thread when its last path was made. Most of them are the same in the next path.
struct LastCalls {
  uint64_t generation; // generation of the process that the nodes belong to
  uint32_t total;      // number of all calls
  uint32_t count;      // the outermost `count` calls have nodes
  bool ends_in_import; // the innermost of these belongs to an import, whose calls have no nodes
  uint32_t node;       // of all calls, as numberCalls() returns it; 0 = not known
  uint32_t path;       // the path of machine code, and its join with these calls; 0 = not known
  uint32_t join;
  uint32_t current;          // the index in `calls` of the last calls. The other array is for the next calls
  Call calls[2][kMaxCalls];  // innermost first
  uint32_t nodes[kMaxCalls]; // of the path to each call, outermost first
  ModuleCodes modules;
  RecentJoins joins; // of paths of machine code with all calls
};

// Returns the node of the join of the path to `node` with this thread's calls of Python code. Returns `node` if there
// are no such calls, or if they get no number. `last` belongs to the thread; null = it is made here.
uint32_t joined(LastCalls *&last, uint64_t generation, PathTree &tree, uint32_t node) noexcept;

// The calls that have started this thread. `generation` is that of the process: in the child of a fork there are none.
StartedBy startedBy(uint64_t generation) noexcept;
void setStartedBy(const StartedBy &) noexcept;

// Returns the node of this thread's innermost call of Python code, or 0. Call only while the thread evaluates code.
uint32_t callsNow(LastCalls *&last, uint64_t generation, PathTree &tree) noexcept;

} // namespace msleaks::runtime::python
