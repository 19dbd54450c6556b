; No code may be inserted between a musttail call and its return. So the counter of the exit is before the call, and the call counts as
; the function's end.
; RUN: %opt -passes='msl-count<cfg>,verify' -S %s | FileCheck %s
; RUN: %opt -passes='msl-count<cfg;counters=all>,verify' -S %s | FileCheck %s --check-prefixes=CHECK,ALL
; RUN: %opt -passes='msl-count<cfg;counters=calls>,verify' -S %s | FileCheck %s --check-prefixes=CHECK,CALLS
target triple = "x86_64-pc-linux-gnu"
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"

declare i32 @next(i32)

; CHECK-LABEL: define i32 @hands_on(
; CHECK: hand:
; ALL: store i64
; CALLS: call void @__msl_count_edge(
; CHECK: %result = musttail call i32 @next(i32 %n)
; CHECK-NEXT: ret i32 %result
define i32 @hands_on(i32 %n) {
entry:
  %more = icmp sgt i32 %n, 0
  br i1 %more, label %hand, label %end
hand:
  %result = musttail call i32 @next(i32 %n)
  ret i32 %result
end:
  ret i32 0
}
