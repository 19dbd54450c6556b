// A gate is a function of the unit, between the calls of an allocator and the allocator. An instrumented call only
// changes its target and gets one more argument, its row. All calls of the same shape share the code for recording. So
// neither code nor compile time grow with a guarded block for each call.
//
//   %p = call ptr @malloc(i64 %n)   →   %p = call ptr @__msl_gate.malloc(i64 %n, i32 7)
//
//   define internal ptr @__msl_gate.malloc(i64 %0, i32 %row) noinline {
//            %base = load atomic i32, ptr @__msl_unit monotonic
//            br (%base != 0), armed, plain                           ; unlikely
//   plain:   %p = tail call ptr @malloc(i64 %0)                      ; a jump: no frame of ours is left
//            ret ptr %p
//   armed:   %q = tail call ptr @__msl_armed.malloc(i64 %0, i32 (%base + %row))
//            ret ptr %q
//   }
//   define internal ptr @__msl_armed.malloc(i64 %0, i32 %site) noinline {
//            call void @__msl_before(i32 %site, i32 traits)
//            %p = invoke ptr @malloc(i64 %0) to done unwind thrown   ; a call, where nothing is thrown
//   done:    call void @__msl_on_alloc(i32 %site, i32 traits, ptr %p, i64 %0)
//            ret ptr %p
//   thrown:  call void @__msl_cancel(i32 %site)
//            resume
//   }
//
// A gate is two functions. In a single one, the unarmed path would save and restore the registers that the armed path
// needs.
#pragma once

#include "call_protocol.h"
#include "gate_shape.h"

#include <map>

namespace msleaks::passes {

// The gates of one unit.
class Gates {
public:
  Gates(llvm::GlobalVariable &unit, RuntimeDecls &runtime) : unit_(unit), runtime_(runtime) {}

  // Replaces the call by one of its gate. There must be no gateObstacle.
  void redirect(llvm::CallBase &call, const CallKind &kind, uint32_t row);

private:
  llvm::GlobalVariable &unit_;
  RuntimeDecls &runtime_;
  using Key = std::tuple<decltype(std::declval<GateShape>().key()), bool>; // the shape, and whether it is an inner free
  std::map<Key, llvm::Function *> made_;
};

} // namespace msleaks::passes
