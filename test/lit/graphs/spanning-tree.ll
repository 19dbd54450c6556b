; Tests a loop with two paths. An edge has a counter only if its count does not follow from other counts. In the loop, the counters are
; registers.
; RUN: %opt -passes='msl-count<cfg>,verify' -S %s | FileCheck %s
; RUN: %opt -passes='msl-count<cfg;counters=all>,verify' -S %s | FileCheck --check-prefix=ALL %s
; RUN: %opt -passes='msl-count<cfg;counters=calls>,verify' -S %s | FileCheck --check-prefix=CALLS %s
; RUN: %opt -passes='msl-count<cfg=^other>,verify' -S %s | FileCheck --check-prefix=OTHER %s
; RUN: %opt -passes='msl-count,verify' -S %s | FileCheck --check-prefix=OTHER %s
target triple = "x86_64-pc-linux-gnu"
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"

; CHECK: @__msl_counters = internal thread_local global ptr null
; CHECK: @__msl_graph_unit = internal constant { i16, i16, i32, ptr } { i16 1, i16 16, i32 3, ptr @__msl_graphs }
; CHECK: @__msl_graphs = private constant {{.*}}, section "msl_graphs", align 8

; CHECK-LABEL: define i32 @loop(
; CHECK: entry:
; CHECK: %[[SCRATCH:.*]] = alloca [3 x i64]
; CHECK: %[[KNOWN:.*]] = load ptr
; CHECK: %[[HERE:.*]] = getelementptr i64, ptr %[[KNOWN]], i64 0
; CHECK: call preserve_mostcc ptr @__msl_first_count()
; CHECK: %[[THERE:.*]] = select i1 %{{.*}}, ptr %{{.*}}, ptr %[[SCRATCH]]
; CHECK: %counters = phi ptr [ %[[HERE]], %entry ], [ %[[THERE]], %{{.*}} ]
; CHECK: head:
; CHECK-NEXT: phi i64 [ 0, %{{.*}} ], [ %[[LEFT:.*]], %tail ]
; CHECK-NOT: store
; CHECK: tail:
; CHECK: end:
; CHECK: store i64
; CHECK: ret i32

; Each of the nine edges has a counter: the entry, the exit, and seven edges between the blocks.
; ALL: @__msl_graph_unit = internal constant { i16, i16, i32, ptr } { i16 1, i16 16, i32 9, ptr @__msl_graphs }

; With counters=calls, each edge has a call, in a separate block that is named after the edge.
; CALLS: @__msl_graph_unit = internal constant { i16, i16, i32, ptr } { i16 1, i16 16, i32 9, ptr @__msl_graphs }
; CALLS-LABEL: define i32 @loop(
; CALLS: call void @__msl_count_edge(ptr %counters, i32 0, i32 1, i32 1)
; CALLS: edge1_2:
; CALLS-NEXT: call void @__msl_count_edge(ptr %counters, i32 1, i32 1, i32 1)
; CALLS-NEXT: br label %head
; CALLS: head:
; CALLS: br i1 %c, label %edge2_4, label %edge2_3
; CALLS: edge2_3:
; CALLS-NEXT: call void @__msl_count_edge(ptr %counters, i32 3, i32 1, i32 1)
; CALLS-NEXT: br label %right
; CALLS: edge2_4:
; CALLS-NEXT: call void @__msl_count_edge(ptr %counters, i32 2, i32 1, i32 1)
; CALLS-NEXT: br label %left
; CALLS: br i1 %more, label %edge5_2, label %edge5_6
; CALLS: ret i32
; CALLS: define internal void @__msl_count_edge(ptr %0, i32 %1, i32 %2, i32 %3) #[[CALLED:[0-9]+]]
; CALLS: icmp ne i32 %3, 0
; CALLS: getelementptr i64, ptr %0
; CALLS: add i64
; CALLS: attributes #[[CALLED]] = { noinline nounwind }

; OTHER-NOT: __msl_
define i32 @loop(i32 %n) {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %tail ]
  %odd = and i32 %i, 1
  %c = icmp eq i32 %odd, 0
  br i1 %c, label %left, label %right
left:
  br label %tail
right:
  br label %tail
tail:
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %head, label %end
end:
  ret i32 %next
}
