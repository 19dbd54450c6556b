; An available_externally body serves only for inlining, so it is not instrumented. Another module instruments the function.
; RUN: %opt -passes=mem-pass -S %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"

declare ptr @malloc(i64)

; CHECK-NOT: __msl
define available_externally ptr @elsewhere(i64 %n) {
  %p = call ptr @malloc(i64 %n)
  ret ptr %p
}

; A call that the compiler itself inserted is not instrumented either.
define ptr @compiler_made(i64 %n) {
  %p = call ptr @malloc(i64 %n), !nosanitize !0
  ret ptr %p
}
!0 = !{}
