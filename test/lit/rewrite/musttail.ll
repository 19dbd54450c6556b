; No code may be inserted between a musttail call and its return, so no callback follows the call. If such a callback would record the
; call, the pass only stores the site for a hook. A realloc gets no on_free either, since its on_alloc would be missing.
; RUN: %opt -passes='mem-pass,verify' -S %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"

declare ptr @malloc(i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)

; CHECK-LABEL: define ptr @make(
; CHECK: call void @__msl_announce(
; CHECK: %p = musttail call ptr @malloc(i64 %n)
; CHECK-NEXT: ret ptr %p
define ptr @make(i64 %n) {
  %p = musttail call ptr @malloc(i64 %n)
  ret ptr %p
}

; CHECK-LABEL: define ptr @grow(
; CHECK-NOT: __msl_on
; CHECK: call void @__msl_announce(
; CHECK-NOT: __msl_on
; CHECK: %q = musttail call ptr @realloc(ptr %p, i64 %n)
; CHECK-NEXT: ret ptr %q
define ptr @grow(ptr %p, i64 %n) {
  %q = musttail call ptr @realloc(ptr %p, i64 %n)
  ret ptr %q
}

; CHECK-LABEL: define void @give_back(
; CHECK: call void @__msl_on_free(
; CHECK: musttail call void @free(ptr %p)
; CHECK-NEXT: ret void
define void @give_back(ptr %p) {
  musttail call void @free(ptr %p)
  ret void
}

; Only a hook can see the status, since no code can run after a musttail call.
declare i32 @cudaFree(ptr)
; CHECK-LABEL: define i32 @give_back_device(
; CHECK: call void @__msl_on_free(
; CHECK-NOT: __msl
; CHECK: %status = musttail call i32 @cudaFree(ptr %p)
; CHECK-NEXT: ret i32 %status
define i32 @give_back_device(ptr %p) {
  %status = musttail call i32 @cudaFree(ptr %p)
  ret i32 %status
}

declare i32 @mprotect(ptr, i64, i32)
; CHECK-LABEL: define i32 @protect(
; CHECK: call void @__msl_announce(
; CHECK-NOT: __msl
; CHECK: musttail call i32 @mprotect(
; CHECK-NEXT: ret i32
define i32 @protect(ptr %p, i64 %n, i32 %protection) {
  %status = musttail call i32 @mprotect(ptr %p, i64 %n, i32 %protection)
  ret i32 %status
}

; An ordinary tail call goes through its gate. In the gate, code can run after the call.
; CHECK-LABEL: define internal i32 @__msl_armed.cudaFree(
; CHECK: call void @__msl_on_free(
; CHECK: [[STATUS:%.*]] = call i32 @cudaFree(
; CHECK-NEXT: [[WIDE:%.*]] = sext i32 [[STATUS]] to i64
; CHECK-NEXT: call void @__msl_on_freed({{.*}}, i64 [[WIDE]])
; CHECK-NEXT: ret i32 [[STATUS]]
define i32 @give_back_tail(ptr %p) {
  %status = tail call i32 @cudaFree(ptr %p)
  ret i32 %status
}
