; A counted function writes memory. So attributes that deny this are removed. Otherwise a later pass would merge calls of the function.
; RUN: %opt -passes='msl-count<cfg>,early-cse,verify' -S %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"

; CHECK: define internal i32 @pure(i32 %x) #[[PURE:[0-9]+]]
define internal i32 @pure(i32 %x) memory(none) nounwind willreturn {
  %y = mul i32 %x, %x
  ret i32 %y
}

; CHECK-LABEL: define i32 @twice(
; CHECK: call i32 @pure
; CHECK: call i32 @pure
define i32 @twice(i32 %x) memory(none) nounwind willreturn {
  %a = call i32 @pure(i32 %x) memory(none)
  %b = call i32 @pure(i32 %x) memory(none)
  %c = add i32 %a, %b
  ret i32 %c
}
; CHECK-NOT: attributes #[[PURE]] = {{.*}}memory(none)
