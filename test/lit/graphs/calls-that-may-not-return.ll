; If a call may not return, the code after the call may run less often. So this code has its own counter, and a loop with such a call has
; its counters in memory. Neither is needed if the call always returns.
; RUN: %opt -passes='msl-count<cfg=leaves>,verify' -S %s | FileCheck %s --check-prefix=LEAVES
; RUN: %opt -passes='msl-count<cfg=stays>,verify' -S %s | FileCheck %s --check-prefix=STAYS
target triple = "x86_64-pc-linux-gnu"
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"

declare void @may_exit(i32)
declare void @returns(i32) nounwind willreturn

; LEAVES: @__msl_graph_unit = {{.*}} i32 3, ptr
; LEAVES: loop:
; LEAVES: call void @may_exit
; LEAVES: store i64
; LEAVES: br label %loop
define void @leaves(i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  call void @may_exit(i32 %i)
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; STAYS: @__msl_graph_unit = {{.*}} i32 2, ptr
; STAYS: loop:
; STAYS-NOT: store
; STAYS: end:
define void @stays(i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  call void @returns(i32 %i)
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
