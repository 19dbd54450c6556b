; Two invokes that arrive in one block, and one landing pad for both: edges are split, values keep their meaning.
; RUN: %opt -passes='mem-pass,verify' -S %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"

declare ptr @_Znwm(i64)
declare i32 @__gxx_personality_v0(...)

; CHECK-LABEL: define ptr @either(
; CHECK: invoke ptr @_Znwm(i64 1)
; CHECK-NEXT: to label %[[EDGE1:.*]] unwind label %[[PAD1:.*]]
; CHECK: invoke ptr @_Znwm(i64 2)
; CHECK-NEXT: to label %[[EDGE2:.*]] unwind label %[[PAD2:.*]]
; CHECK-DAG: call void @__msl_on_alloc(i32 %{{.*}}, i32 0, ptr %a, i64 1)
; CHECK-DAG: call void @__msl_on_alloc(i32 %{{.*}}, i32 0, ptr %b, i64 2)
; CHECK: %p = phi ptr [ %a, %{{.*}} ], [ %b, %{{.*}} ]
; CHECK: landingpad
; CHECK: call void @__msl_cancel(
; CHECK: landingpad
; CHECK: call void @__msl_cancel(
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
