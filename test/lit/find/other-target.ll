; The device's half of a CUDA compile has no runtime to call.
; RUN: %opt -passes=mem-pass -S %s | FileCheck %s
target triple = "amdgcn-amd-amdhsa"

; CHECK-NOT: __msl
declare ptr @malloc(i64)
define ptr @on_device(i64 %n) {
  %p = call ptr @malloc(i64 %n)
  ret ptr %p
}
