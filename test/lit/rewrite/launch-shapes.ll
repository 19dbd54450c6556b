; A dim3 by value, as different ABIs lower it. What is not recognised is said as zeros, the launch is seen all the same.
; RUN: %opt -passes='mem-pass,verify' -S %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"

%dim3 = type { i32, i32, i32 }
declare i32 @cudaLaunchKernel(...)

; CHECK-LABEL: define void @in_registers(
; CHECK: call void @__msl_on_launch(i32 %{{.*}}, i32 {{.*}}, ptr %k, ptr %s, i64 %gxy, i32 %gz, i64 %bxy, i32 %bz, i32 %{{.*}})
define void @in_registers(ptr %k, i64 %gxy, i32 %gz, i64 %bxy, i32 %bz, i64 %shared, ptr %s) {
  %r = call i32 (...) @cudaLaunchKernel(ptr %k, i64 %gxy, i32 %gz, i64 %bxy, i32 %bz, ptr null, i64 %shared, ptr %s)
  ret void
}

; aarch64
; CHECK-LABEL: define void @as_arrays(
; CHECK-DAG: %[[Z:.*]] = extractvalue [2 x i64] %g, 1
; CHECK-DAG: %[[XY:.*]] = extractvalue [2 x i64] %g, 0
; CHECK: call void @__msl_on_launch(i32 %{{.*}}, i32 {{.*}}, ptr %k, ptr %s, i64 %[[XY]],
define void @as_arrays(ptr %k, [2 x i64] %g, [2 x i64] %b, i64 %shared, ptr %s) {
  %r = call i32 (...) @cudaLaunchKernel(ptr %k, [2 x i64] %g, [2 x i64] %b, ptr null, i64 %shared, ptr %s)
  ret void
}

; CHECK-LABEL: define void @on_the_stack(
; CHECK: load i64, ptr %g, align 4
; CHECK: load i32, ptr %{{.*}}, align 4
; CHECK: call void @__msl_on_launch(
define void @on_the_stack(ptr %k, ptr %g, ptr %b, i64 %shared, ptr %s) {
  %r = call i32 (...) @cudaLaunchKernel(ptr %k, ptr byval(%dim3) %g, ptr byval(%dim3) %b, ptr null, i64 %shared, ptr %s)
  ret void
}

; CHECK-LABEL: define void @unknown(
; CHECK: call void @__msl_on_launch(i32 %{{.*}}, i32 {{.*}}, ptr %k, ptr %s, i64 0, i32 0, i64 0, i32 0, i32 %{{.*}})
define void @unknown(ptr %k, double %g, i64 %shared, ptr %s) {
  %r = call i32 (...) @cudaLaunchKernel(ptr %k, double %g, double %g, ptr null, i64 %shared, ptr %s)
  ret void
}
