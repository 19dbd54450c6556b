; A module for a target without a runtime is not instrumented, and one remark says this. An example is the device's half of a CUDA or HIP
; compilation.
; RUN: sed 's/TARGET/amdgcn-amd-amdhsa/' %s > %t.amd.ll
; RUN: %opt -passes=mem-pass -pass-remarks-missed=msleaks -S %t.amd.ll 2>&1 | FileCheck -DTARGET=amdgcn-amd-amdhsa %s
; RUN: sed 's/TARGET/nvptx64-nvidia-cuda/' %s > %t.nv.ll
; RUN: %opt -passes=mem-pass -pass-remarks-missed=msleaks -S %t.nv.ll 2>&1 | FileCheck -DTARGET=nvptx64-nvidia-cuda %s
target triple = "TARGET"

; CHECK: remark: {{.*}}: nothing in this module is recorded: there is no runtime for [[TARGET]]
; CHECK-NOT: remark:
; CHECK-NOT: __msl
; CHECK: define ptr @another
; CHECK-NOT: {{remark:|__msl}}
declare ptr @malloc(i64)
define ptr @on_device(i64 %n) {
  %p = call ptr @malloc(i64 %n)
  ret ptr %p
}
define ptr @another(i64 %n) {
  %p = call ptr @malloc(i64 %n)
  ret ptr %p
}
