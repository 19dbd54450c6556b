; Values are passed in the same way at the call, in the gate and at the call inside the gate.
; Attributes of one call stay at that call. Calls that pass values in another way have another gate.
; RUN: echo 'free odd address=0' > %t.rows
; RUN: %opt -passes='mem-pass<rows=%t.rows>,verify' -S %s | FileCheck %s
; RUN: %opt -passes='mem-pass<rows=%t.rows>,verify' -S %s -o %t.ll && llc -O0 %t.ll -o /dev/null && llc -O2 %t.ll -o /dev/null
target triple = "x86_64-pc-linux-gnu"
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"

%pair = type { i64, i64, i64 }
declare ptr @malloc(i64) nounwind
declare fastcc void @odd(i64, ptr sret(%pair), ptr byval(%pair) align 8, i8 signext, ptr nest, ptr swiftself, ptr swifterror)
declare ptr @calloc(...)

; CHECK-LABEL: define void @all(
; CHECK: call fastcc void @__msl_gate.odd(i64 %n, ptr noalias sret(%pair) %o, ptr byval(%pair) align 8 %o, i8 signext 3, ptr nest %o, ptr swiftself %o, ptr swifterror %e, i32 0)
define void @all(i64 %n, ptr %o) {
  %e = alloca swifterror ptr
  call fastcc void @odd(i64 %n, ptr noalias sret(%pair) %o, ptr byval(%pair) align 8 %o, i8 signext 3, ptr nest %o, ptr swiftself %o, ptr swifterror %e)
  ret void
}

; The declaration is variadic, so each list of argument types has its own gate.
; CHECK-LABEL: define void @variadic(
; CHECK: call ptr @__msl_gate.calloc(i64 %n, i64 2, i32 1)
; CHECK: notail call ptr @__msl_gate.calloc(i64 %n, i64 3, i32 2)
; CHECK: call ptr @__msl_gate.calloc.[[#]](i64 %n, i64 2, double 1.000000e+00, i32 3)
define void @variadic(i64 %n) {
  %p = call ptr (...) @calloc(i64 %n, i64 2)
  %q = notail call ptr (...) @calloc(i64 %n, i64 3)
  %r = call ptr (...) @calloc(i64 %n, i64 2, double 1.0)
  ret void
}

; A function for another processor may pass vectors in other registers, so its calls have their own gate.
; CHECK-LABEL: define ptr @wide(
; CHECK: call ptr @__msl_gate.malloc(i64 %n, i32 4)
; CHECK-LABEL: define ptr @narrow(
; CHECK: call ptr @__msl_gate.malloc.[[#]](i64 %n, i32 5)
define ptr @wide(i64 %n) "target-features"="+avx512f" {
  %p = call ptr @malloc(i64 %n)
  ret ptr %p
}
define ptr @narrow(i64 %n) {
  %p = call ptr @malloc(i64 %n)
  ret ptr %p
}

; The call has an operand bundle of another tool, which a gate cannot pass on. So the call is not instrumented.
; CHECK-LABEL: define ptr @bundled(
; CHECK: call ptr @malloc(i64 %n) [ "deopt"(i32 1) ]
define ptr @bundled(i64 %n) {
  %p = call ptr @malloc(i64 %n) [ "deopt"(i32 1) ]
  ret ptr %p
}

; CHECK: define internal fastcc void @__msl_gate.odd(i64 %0, ptr sret(%pair) %1, ptr byval(%pair) align 8 %2, i8 signext %3, ptr nest %4, ptr swiftself %5, ptr swifterror %6, i32 %row)
; CHECK: tail call fastcc void @odd(i64 %0, ptr sret(%pair) %1, ptr byval(%pair) align 8 %2, i8 signext %3, ptr nest %4, ptr swiftself %5, ptr swifterror %6)
; CHECK: tail call fastcc void @__msl_armed.odd(i64 %0, ptr sret(%pair) %1, ptr byval(%pair) align 8 %2, i8 signext %3, ptr nest %4, ptr swiftself %5, ptr swifterror %6, i32 %site)
; CHECK: tail call ptr (...) @calloc(i64 %0, i64 %1)
; CHECK: define internal ptr @__msl_gate.malloc(i64 %0, i32 %row) #[[WIDE:[0-9]+]]
; CHECK: attributes #[[WIDE]] = {{.*}}"target-features"="+avx512f"
