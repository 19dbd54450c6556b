; A module for another target is left alone as a whole, and says so once.
; RUN: %opt -passes=mem-pass -pass-remarks-missed=msleaks -disable-output %s 2>&1 | FileCheck %s
target triple = "amdgcn-amd-amdhsa"

; CHECK: remark: {{.*}}: nothing in this module is recorded: there is no runtime for amdgcn-amd-amdhsa
; CHECK-NOT: remark
declare ptr @malloc(i64)
define ptr @on_device(i64 %n) {
  %p = call ptr @malloc(i64 %n)
  ret ptr %p
}
define ptr @another(i64 %n) {
  %p = call ptr @malloc(i64 %n)
  ret ptr %p
}
