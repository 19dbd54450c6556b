; An alloca behind a call in the entry block would become a dynamic one when the block is split.
; RUN: %opt -passes='mem-pass,verify' -S %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"

declare ptr @malloc(i64)
declare void @use(ptr, ptr)

; CHECK-LABEL: define void @late(
; CHECK-NEXT: %slot = alloca i64
; CHECK: call ptr @malloc
define void @late() {
  %p = call ptr @malloc(i64 8)
  %slot = alloca i64
  call void @use(ptr %p, ptr %slot)
  ret void
}
