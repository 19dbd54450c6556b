; An API may declare a size or a count with a pointer type. The pass still multiplies them as numbers.
; RUN: echo 'alloc odd size=0 count=1 free=free heap=host' > %t.rows
; RUN: %opt -passes='mem-pass<rows=%t.rows>,verify' -S %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"

declare ptr @odd(ptr, ptr)

; CHECK: define internal ptr @__msl_armed.odd(ptr %0, ptr %1, i32 %site)
; CHECK: %[[SIZE:.*]] = ptrtoint ptr %0 to i64
; CHECK: %[[COUNT:.*]] = ptrtoint ptr %1 to i64
; CHECK: @llvm.umul.with.overflow.i64(i64 %[[SIZE]], i64 %[[COUNT]])
define ptr @make(ptr %n, ptr %m) {
  %p = call ptr @odd(ptr %n, ptr %m)
  ret ptr %p
}
