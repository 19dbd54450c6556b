; Two invokes continue in one block and share one landing pad. Their edges stay
; unchanged. The gate contains the code for an exception that leaves operator new.
; RUN: %opt -passes='mem-pass,verify' -S %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"

declare ptr @_Znwm(i64)
declare i32 @__gxx_personality_v0(...)

; CHECK-LABEL: define ptr @either(
; CHECK: %a = invoke ptr @__msl_gate._Znwm(i64 1, i32 0)
; CHECK-NEXT: to label %join unwind label %pad
; CHECK: %b = invoke ptr @__msl_gate._Znwm(i64 2, i32 1)
; CHECK-NEXT: to label %join unwind label %pad
; CHECK: %p = phi ptr [ %a, %one ], [ %b, %two ]
; CHECK: %which = phi i32 [ 1, %one ], [ 2, %two ]
; CHECK-NEXT: landingpad
; CHECK-NOT: @__msl
; CHECK: resume
define ptr @either(i1 %first) personality ptr @__gxx_personality_v0 {
  br i1 %first, label %one, label %two
one:
  %a = invoke ptr @_Znwm(i64 1) to label %join unwind label %pad
two:
  %b = invoke ptr @_Znwm(i64 2) to label %join unwind label %pad
join:
  %p = phi ptr [ %a, %one ], [ %b, %two ]
  ret ptr %p
pad:
  %which = phi i32 [ 1, %one ], [ 2, %two ]
  %landed = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %landed
}

; A caller without exception handling uses the same gate.
; CHECK-LABEL: define ptr @plain(
; CHECK: call ptr @__msl_gate._Znwm(i64 3, i32 2)
define ptr @plain() {
  %p = call ptr @_Znwm(i64 3)
  ret ptr %p
}

; A call that cannot throw uses another gate, without a landing pad.
; CHECK-LABEL: define ptr @quiet(
; CHECK: call ptr @__msl_gate._Znwm.[[#]](i64 4, i32 3)
define ptr @quiet() {
  %p = call ptr @_Znwm(i64 4) nounwind
  ret ptr %p
}

; CHECK-LABEL: define internal ptr @__msl_armed._Znwm(
; CHECK-SAME: personality ptr @__gxx_personality_v0
; CHECK: call void @__msl_before(i32 %site, i32 0)
; CHECK: %[[P:.*]] = invoke ptr @_Znwm(i64 %0)
; CHECK-NEXT: to label %done unwind label %thrown
; CHECK: done:
; CHECK-NEXT: call void @__msl_on_alloc(i32 %site, i32 0, ptr %[[P]], i64 %0)
; CHECK-NEXT: ret ptr %[[P]]
; CHECK: thrown:
; CHECK-NEXT: %[[LANDED:.*]] = landingpad { ptr, i32 }
; CHECK-NEXT: cleanup
; CHECK-NEXT: call void @__msl_cancel(i32 %site)
; CHECK-NEXT: resume { ptr, i32 } %[[LANDED]]

; CHECK-LABEL: define internal ptr @__msl_armed._Znwm.{{[0-9]+}}(
; CHECK-NOT: personality
; CHECK: call ptr @_Znwm(
