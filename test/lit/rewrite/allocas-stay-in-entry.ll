; For a call that is no musttail call, the pass splits no basic block. So an alloca after the call in the entry block stays static.
; RUN: %opt -passes='mem-pass,verify' -S %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"

declare ptr @malloc(i64)
declare void @use(ptr, ptr)

; CHECK-LABEL: define void @late(
; CHECK-NEXT: call ptr @__msl_gate.malloc(i64 8, i32 0)
; CHECK-NEXT: %slot = alloca i64
; CHECK-NEXT: call void @use(
; CHECK-NEXT: ret void
define void @late() {
  %p = call ptr @malloc(i64 8)
  %slot = alloca i64
  call void @use(ptr %p, ptr %slot)
  ret void
}
