; A body that is here only to be inlined is compiled, and instrumented, elsewhere.
; RUN: %opt -passes=mem-pass -S %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"

declare ptr @malloc(i64)

; CHECK-NOT: __msl
define available_externally ptr @elsewhere(i64 %n) {
  %p = call ptr @malloc(i64 %n)
  ret ptr %p
}

; Neither is a call that the compiler itself put there.
define ptr @compiler_made(i64 %n) {
  %p = call ptr @malloc(i64 %n), !nosanitize !0
  ret ptr %p
}
!0 = !{}
