; Callbacks make inferred memory attributes untrue: at the function with the call, at its callers, and at their calls. Other code keeps
; its attributes.
; RUN: %opt -passes='mem-pass,verify' -S %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"

declare ptr @malloc(i64) allockind("alloc,uninitialized") allocsize(0) memory(inaccessiblemem: readwrite)
declare i32 @cudaMalloc(ptr, i64)

@other_name = alias ptr (i64), ptr @make

; CHECK: define noalias ptr @make(i64 %n) #[[CLEAN:[0-9]+]] {
; CHECK: call noalias ptr @__msl_gate.malloc(i64 %n, i32 0) #[[CALL:[0-9]+]]
define noalias ptr @make(i64 %n) nounwind norecurse nofree nosync willreturn nocallback memory(inaccessiblemem: readwrite) {
  %p = call noalias ptr @malloc(i64 %n) nounwind nofree willreturn memory(inaccessiblemem: readwrite)
  ret ptr %p
}

; CHECK: define ptr @caller(i64 %n) #[[CLEAN]] {
; CHECK-NEXT: call ptr @make(i64 %n) #[[CALL]]
define ptr @caller(i64 %n) nounwind norecurse nosync willreturn memory(inaccessiblemem: readwrite) {
  %p = call ptr @make(i64 %n) nounwind willreturn nosync memory(none)
  ret ptr %p
}

; CHECK: define ptr @callers_caller(i64 %n) #[[CLEAN]] {
define ptr @callers_caller(i64 %n) nounwind norecurse speculatable memory(none) {
  %p = call ptr @caller(i64 %n)
  ret ptr %p
}

; CHECK: define ptr @by_another_name(i64 %n) #[[CLEAN]] {
define ptr @by_another_name(i64 %n) nounwind norecurse willreturn {
  %p = call ptr @other_name(i64 %n)
  ret ptr %p
}

; on_alloc_out reads the value that the driver has stored, so `writeonly` becomes untrue.
; CHECK: define i32 @device(ptr {{nocapture|captures\(none\)}} %where, ptr readonly %other) {
; CHECK: define i32 @devices(ptr %where) {
; CHECK-NEXT: call i32 @device(ptr %where, ptr readonly null)
define i32 @device(ptr nocapture writeonly %where, ptr readonly %other) {
  %status = call i32 @cudaMalloc(ptr writeonly %where, i64 8)
  ret i32 %status
}
define i32 @devices(ptr writeonly %where) {
  %status = call i32 @device(ptr writeonly %where, ptr readonly null)
  ret i32 %status
}

; A function that only uses the address of a recording function, or calls other functions, keeps all its attributes.
; CHECK: define ptr @apart() #[[PURE:[0-9]+]] {
define ptr @apart() nounwind willreturn memory(none) {
  %n = call i64 @number()
  ret ptr @make
}
; CHECK: define i64 @number() #[[PURE]] {
define i64 @number() nounwind willreturn memory(none) {
  ret i64 3
}

; CHECK-DAG: attributes #[[CLEAN]] = { norecurse nounwind }
; CHECK-DAG: attributes #[[CALL]] = { nounwind }
; CHECK-DAG: attributes #[[PURE]] = { nounwind willreturn memory(none) }
