; Tests launches with dim3 values, as different ABIs lower them. A launch in an unknown form is recorded with dimensions of 0.
; RUN: %opt -passes='mem-pass,verify' -S %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"

%dim3 = type { i32, i32, i32 }
declare i32 @cudaLaunchKernel(...)

; Each form has its own gate, whose parameters are the arguments of the call and the row.
; CHECK-LABEL: define void @in_registers(
; CHECK: call i32 @__msl_gate.cudaLaunchKernel(ptr %k, i64 %gxy, i32 %gz, i64 %bxy, i32 %bz, ptr null, i64 %shared, ptr %s, i32 0)
define void @in_registers(ptr %k, i64 %gxy, i32 %gz, i64 %bxy, i32 %bz, i64 %shared, ptr %s) {
  %r = call i32 (...) @cudaLaunchKernel(ptr %k, i64 %gxy, i32 %gz, i64 %bxy, i32 %bz, ptr null, i64 %shared, ptr %s)
  ret void
}

; CHECK-LABEL: define void @as_arrays(
; CHECK: call i32 @__msl_gate.cudaLaunchKernel.[[#]](ptr %k, [2 x i64] %g, [2 x i64] %b, ptr null, i64 %shared, ptr %s, i32 1)
define void @as_arrays(ptr %k, [2 x i64] %g, [2 x i64] %b, i64 %shared, ptr %s) {
  %r = call i32 (...) @cudaLaunchKernel(ptr %k, [2 x i64] %g, [2 x i64] %b, ptr null, i64 %shared, ptr %s)
  ret void
}

; CHECK-LABEL: define void @on_the_stack(
; CHECK: call i32 @__msl_gate.cudaLaunchKernel.[[#]](ptr %k, ptr byval(%dim3) %g, ptr byval(%dim3) %b, ptr null, i64 %shared, ptr %s, i32 2)
define void @on_the_stack(ptr %k, ptr %g, ptr %b, i64 %shared, ptr %s) {
  %r = call i32 (...) @cudaLaunchKernel(ptr %k, ptr byval(%dim3) %g, ptr byval(%dim3) %b, ptr null, i64 %shared, ptr %s)
  ret void
}

; CHECK-LABEL: define void @unknown(
; CHECK: call i32 @__msl_gate.cudaLaunchKernel.[[#]](ptr %k, double %g, double %g, ptr null, i64 %shared, ptr %s, i32 3)
define void @unknown(ptr %k, double %g, i64 %shared, ptr %s) {
  %r = call i32 (...) @cudaLaunchKernel(ptr %k, double %g, double %g, ptr null, i64 %shared, ptr %s)
  ret void
}

; CHECK-LABEL: define internal i32 @__msl_armed.cudaLaunchKernel(ptr %0, i64 %1, i32 %2, i64 %3, i32 %4, ptr %5, i64 %6, ptr %7, i32 %site)
; CHECK: call void @__msl_on_launch(i32 %site, i32 {{.*}}, ptr %0, ptr %7, i64 %1, i32 %2, i64 %3, i32 %4, i32 %{{.*}})
; CHECK: call i32 (...) @cudaLaunchKernel(ptr %0, i64 %1, i32 %2, i64 %3, i32 %4, ptr %5, i64 %6, ptr %7)

; aarch64 passes a dim3 in this form.
; CHECK-LABEL: define internal i32 @__msl_armed.cudaLaunchKernel.{{[0-9]+}}(ptr %0, [2 x i64] %1, [2 x i64] %2, ptr %3, i64 %4, ptr %5, i32 %site)
; CHECK-DAG: %[[Z:.*]] = extractvalue [2 x i64] %1, 1
; CHECK-DAG: %[[XY:.*]] = extractvalue [2 x i64] %1, 0
; CHECK: call void @__msl_on_launch(i32 %site, i32 {{.*}}, ptr %0, ptr %5, i64 %[[XY]],

; CHECK-LABEL: define internal i32 @__msl_armed.cudaLaunchKernel.{{[0-9]+}}(ptr %0, ptr byval(%dim3) %1, ptr byval(%dim3) %2, ptr %3, i64 %4, ptr %5, i32 %site)
; CHECK: load i64, ptr %1, align 4
; CHECK: load i32, ptr %{{.*}}, align 4
; CHECK: call void @__msl_on_launch(
; CHECK: call i32 (...) @cudaLaunchKernel(ptr %0, ptr byval(%dim3) %1, ptr byval(%dim3) %2, ptr %3, i64 %4, ptr %5)

; CHECK-LABEL: define internal i32 @__msl_armed.cudaLaunchKernel.{{[0-9]+}}(ptr %0, double %1, double %2, ptr %3, i64 %4, ptr %5, i32 %site)
; CHECK: call void @__msl_on_launch(i32 %site, i32 {{.*}}, ptr %0, ptr %5, i64 0, i32 0, i64 0, i32 0, i32 %{{.*}})
