; Before a copy whose size may reach 64 KiB, the pass inserts a compare of the size, and records a large copy if a runtime has armed the
; unit. A copy of a small constant size stays as it is. A second run of the pass changes nothing.
; RUN: %opt -passes='mem-pass,verify' -S %s | FileCheck %s
; RUN: %opt -passes='mem-pass,mem-pass,verify' -S %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare ptr @__memcpy_chk(ptr, ptr, i64, i64)

; CHECK-LABEL: define void @of_any_size(
; CHECK-NEXT:    %[[LARGE:.*]] = icmp ugt i64 %n, 65535
; CHECK-NEXT:    br i1 %[[LARGE]], label %[[TEST:.*]], label %[[REST:.*]], !prof
; CHECK:         %[[BASE:.*]] = load atomic i32, ptr @__msl_unit monotonic, align 4
; CHECK-NEXT:    %[[ARMED:.*]] = icmp ne i32 %[[BASE]], 0
; CHECK-NEXT:    br i1 %[[ARMED]], label %[[RECORD:.*]], label %{{.*}}, !prof
; CHECK:         %[[SITE:.*]] = add i32 %[[BASE]], 0
; CHECK-NEXT:    call void @__msl_on_copy(i32 %[[SITE]], i32 {{[0-9]+}}, ptr %to, ptr %from, i64 %n, ptr null, i64 0)
; CHECK:         call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
; CHECK-NOT:     __msl
; CHECK:         ret void
define void @of_any_size(ptr %to, ptr %from, i64 %n) {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  ret void
}

; CHECK-LABEL: define void @large(
; CHECK-NEXT:    load atomic i32, ptr @__msl_unit
; CHECK:         call void @__msl_on_copy({{.*}}, i64 65536, ptr null, i64 0)
; CHECK:         call void @llvm.memmove
define void @large(ptr %to, ptr %from) {
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 65536, i1 false)
  ret void
}

; CHECK-LABEL: define void @small(
; CHECK-NEXT:    call void @llvm.memcpy
; CHECK-NEXT:    call void @llvm.memset
; CHECK-NEXT:    ret void
define void @small(ptr %to, ptr %from, i64 %n) {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 65535, i1 false)
  call void @llvm.memset.p0.i64(ptr %to, i8 0, i64 %n, i1 false)
  ret void
}

; CHECK-LABEL: define ptr @checked(
; CHECK:         call void @__msl_on_copy(
; CHECK:         musttail call ptr @__memcpy_chk(
; CHECK-NEXT:    ret ptr
define ptr @checked(ptr %to, ptr %from, i64 %n, i64 %room) {
  %result = musttail call ptr @__memcpy_chk(ptr %to, ptr %from, i64 %n, i64 %room)
  ret ptr %result
}

; CHECK-LABEL: define ptr @memmove(
; CHECK-NOT:     __msl
; CHECK:         ret ptr %to
define ptr @memmove(ptr %to, ptr %from, i64 %n) {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  ret ptr %to
}

; CHECK-LABEL: define void @left_alone(
; CHECK-NOT:     __msl
; CHECK:         ret void
define void @left_alone(ptr %to, ptr %from, i64 %n) disable_sanitizer_instrumentation {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  ret void
}
