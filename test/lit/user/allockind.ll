; The pass finds allocators by the attributes allockind and allocptr, as other front ends emit them.
; RUN: %opt -passes='mem-pass,verify' -S %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"

declare ptr @gc_new(i32, i64) allockind("alloc,zeroed") allocsize(1)
declare ptr @gc_grow(ptr allocptr, i64) allockind("realloc") allocsize(1)
declare void @gc_drop(i32, ptr allocptr) allockind("free")
declare ptr @gc_unsized() allockind("alloc,uninitialized")

; CHECK-LABEL: define void @all(
; CHECK: %p = call ptr @__msl_gate.gc_new(i32 1, i64 %n, i32 0)
; CHECK: %q = call ptr @__msl_gate.gc_grow(ptr %p, i64 9, i32 1)
; CHECK: call void @__msl_gate.gc_drop(i32 0, ptr %q, i32 2)
; gc_unsized has no allocsize, so its call is not instrumented.
; CHECK-NOT: __msl
; CHECK: ret void
define void @all(i64 %n) {
  %p = call ptr @gc_new(i32 1, i64 %n)
  %q = call ptr @gc_grow(ptr %p, i64 9)
  call void @gc_drop(i32 0, ptr %q)
  %r = call ptr @gc_unsized()
  ret void
}

; CHECK: define internal ptr @__msl_armed.gc_new(
; CHECK: call void @__msl_before(
; CHECK: %[[P:.*]] = call ptr @gc_new(i32 %0, i64 %1)
; CHECK: call void @__msl_on_alloc(i32 %site, i32 {{.*}}, ptr %[[P]], i64 %1)
; CHECK: define internal ptr @__msl_armed.gc_grow(
; CHECK: call void @__msl_on_free(i32 %site, i32 {{.*}}, ptr %0, i64 0)
; CHECK: %[[Q:.*]] = call ptr @gc_grow(ptr %0, i64 %1)
; CHECK: call void @__msl_on_alloc(i32 %site, i32 {{.*}}, ptr %[[Q]], i64 %1)
; CHECK: define internal void @__msl_armed.gc_drop(
; CHECK: call void @__msl_on_free(i32 %site, i32 {{.*}}, ptr %1, i64 0)
; CHECK: call void @gc_drop(i32 %0, ptr %1)
