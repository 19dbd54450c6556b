// A gate is a function of the instrumented module that calls a known function, such as an allocator. It records the
// call if a runtime has armed the module. An instrumented call calls the gate instead of the known function. The call
// passes one more argument: the number of its row in the table of sites. All calls of the same shape (gate_shape.h)
// share one gate.
//
//   %p = call ptr @malloc(i64 %n)   →   %p = call ptr @__msl_gate.malloc(i64 %n, i32 7)
//
//   define internal ptr @__msl_gate.malloc(i64 %0, i32 %row) noinline {
//            %base = load atomic i32, ptr @__msl_unit monotonic
//            br (%base != 0), armed, plain                           ; unlikely
//   plain:   %p = tail call ptr @malloc(i64 %0)                      ; a jump: the gate leaves no stack frame
//            ret ptr %p
//   armed:   %q = tail call ptr @__msl_armed.malloc(i64 %0, i32 (%base + %row))
//            ret ptr %q
//   }
//
// If the callee is a hook that can take the site as an argument, the path `armed` jumps to this hook instead
// (direct_call.h). The gate compares addresses to find this out.
//
//   define internal ptr @__msl_armed.malloc(i64 %0, i32 %site) noinline {
//            call void @__msl_before(i32 %site, i32 traits)
//            %p = invoke ptr @malloc(i64 %0) to done unwind thrown   ; a plain call if nothing is thrown
//   done:    call void @__msl_on_alloc(i32 %site, i32 traits, ptr %p, i64 %0)
//            ret ptr %p
//   thrown:  call void @__msl_cancel(i32 %site)
//            resume
//   }
//
// A gate consists of two functions, the gate itself and its armed half (__msl_armed.malloc). In a single function, the
// path `plain` would save and restore the registers that only the path `armed` needs.
#pragma once

#include "call_protocol.h"
#include "gate_shape.h"

#include <map>

namespace msleaks::passes {

// The gates of one module.
class Gates {
public:
  Gates(llvm::GlobalVariable &unit, RuntimeDecls &runtime) : unit_(unit), runtime_(runtime) {}

  // Replaces the call by a call of its gate. gateObstacle must return null for the call.
  void redirect(llvm::CallBase &call, const CallKind &kind, uint32_t row);

private:
  llvm::GlobalVariable &unit_;
  RuntimeDecls &runtime_;
  using Key = std::tuple<decltype(std::declval<GateShape>().key()), bool>; // shape, and whether calls are inner frees
  std::map<Key, llvm::Function *> made_;
};

} // namespace msleaks::passes
