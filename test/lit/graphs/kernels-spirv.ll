; Each OpenCL kernel stays unchanged and gets a counted copy with one more argument. Functions that no kernel calls are not counted. An
; example is the callable version that LLVM 22 makes of a kernel, if this version was inlined everywhere.
; RUN: %opt -passes='msl-count<cfg>,verify' -S %s | FileCheck %s
; RUN: %opt -passes='msl-count<cfg>,msl-count<cfg>,verify' -S %s | FileCheck %s --check-prefix=ONCE
; RUN: %opt -passes='msl-count<off;cfg>,verify' -S %s | FileCheck %s --check-prefix=OFF
; RUN: %opt -passes='msl-count<>,verify' -S %s | FileCheck %s --check-prefix=OFF
; RUN: %opt -passes='msl-count<cfg;counters=calls>,verify' -S %s | FileCheck %s --check-prefix=CALLS
; RUN: %opt -passes='msl-count<cfg=nothing>,verify' -S %s | FileCheck %s
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64-G1"
target triple = "spirv64"

@work.part = internal addrspace(3) global [4 x i32] undef

; CALLS: define spir_kernel void @__msl_counted_work(
; CALLS: %[[GRANULARITY:.*]] = select i1 %{{.*}}, i32 1, i32 0
; CALLS: call spir_func void @__msl_count_edge(ptr addrspace(1) %{{.*}}, i32 {{[0-9]+}}, i32 1, i32 %[[GRANULARITY]])
; CALLS: define internal spir_func void @__msl_count_edge(ptr addrspace(1) %0, i32 %1, i32 %2, i32 %3)
; CALLS: atomicrmw add ptr addrspace(1) %{{.*}}, i32
; OFF-NOT: __msl_
; ONCE: define spir_kernel void @__msl_counted_work(
; ONCE-NOT: define spir_kernel void @__msl_counted_{{work|__msl}}

; CHECK-DAG: @work.part = internal addrspace(3) global
; CHECK-DAG: @__msl_counted_work.part = internal addrspace(3) global
; CHECK-DAG: @[[TABLE:__msl_graphs_[0-9a-f]+]].table = internal addrspace(2) constant [{{[0-9]+}} x i64]

; CHECK-LABEL: define spir_kernel void @work(
; CHECK-SAME: ptr addrspace(1) %out, i32 %n) !kernel_arg_addr_space
; CHECK-NOT: __msl
; CHECK-NOT: atomicrmw
; CHECK: call spir_func i32 @step(i32 %i)
; CHECK: store i32 %stepped, ptr addrspace(3) @work.part
define spir_kernel void @work(ptr addrspace(1) %out, i32 %n) !kernel_arg_addr_space !0 !kernel_arg_access_qual !1 !kernel_arg_type !2 !kernel_arg_base_type !2 !kernel_arg_type_qual !3 {
entry:
  %has = icmp sgt i32 %n, 0
  br i1 %has, label %loop, label %end
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %stepped = call spir_func i32 @step(i32 %i)
  store i32 %stepped, ptr addrspace(3) @work.part
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  store i32 %n, ptr addrspace(1) %out
  ret void
}

; CHECK-LABEL: define spir_func i32 @step(
; CHECK-NOT: __msl
define spir_func i32 @step(i32 %value) noinline {
  %odd = trunc i32 %value to i1
  br i1 %odd, label %one, label %two
one:
  ret i32 1
two:
  ret i32 2
}

; CHECK-LABEL: define spir_kernel void @guarded(
define spir_kernel void @guarded(ptr addrspace(1) %out, i32 %i, i32 %n) {
  %in = icmp slt i32 %i, %n
  br i1 %in, label %then, label %end
then:
  store i32 %n, ptr addrspace(1) %out
  br label %end
end:
  ret void
}

; CHECK-LABEL: define spir_kernel void @waits(
declare spir_func void @_Z7barrierj(i32) convergent
define spir_kernel void @waits(ptr addrspace(1) %out, i32 %n) {
entry:
  br label %round
round:
  %i = phi i32 [ 0, %entry ], [ %next, %round ]
  call spir_func void @_Z7barrierj(i32 1) convergent
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %round, label %end
end:
  ret void
}

; CHECK-LABEL: define spir_func void @__clang_ocl_kern_imp_work(
; CHECK-NOT: __msl
define spir_func void @__clang_ocl_kern_imp_work(ptr addrspace(1) %out, i32 %n) alwaysinline {
  ret void
}

; CHECK-LABEL: define spir_kernel void @__msl_counted_work(
; CHECK-SAME: ptr addrspace(1) %out, i32 %n, ptr addrspace(1) noalias align 8 %{{[^ ]+}})
; CHECK-SAME: !kernel_arg_addr_space ![[SPACES:[0-9]+]]
; The first thread of a block adds the number of all counting threads. The other threads only wait at the barrier after this code.
; CHECK: %[[FIRST:.*]] = icmp eq i64 %{{.*}}, 0
; CHECK-NEXT: br i1 %[[FIRST]], label %{{.*}}, label %[[REST:.*]]
; CHECK: switch i32 %{{.*}}, label %{{.*}} [
; CHECK: atomicrmw add ptr addrspace(1) %{{.*}}, i32 %{{.*}} syncscope("device") monotonic, align 4
; CHECK: [[REST]]:
; CHECK-NEXT: call spir_func void @_Z7barrierj(i32 1)
; CHECK-NEXT: call spir_func i64 @_Z12get_group_idj(i32 0)
; CHECK: switch i32 %{{.*}}, label %{{.*}} [
; CHECK: %[[COUNTED:.*]] = phi i1 [
; The loop counts in a register. The function that it calls adds to the same bank (one of several copies) of counters.
; CHECK: call spir_func i32 @__msl_counted_step(i32 %i, ptr addrspace(1) %{{.*}}, i1 %[[COUNTED]])
; CHECK: store i32 %{{.*}}, ptr addrspace(3) @__msl_counted_work.part
; CHECK-NOT: atomicrmw
; CHECK: br i1 %more,
; Two atomic additions change the two 32-bit halves of a counter.
; CHECK: atomicrmw add ptr addrspace(1) %{{.*}}, i32 %{{.*}} syncscope("device") monotonic, align 4
; CHECK: atomicrmw add ptr addrspace(1) %{{.*}}, i32 %{{.*}} syncscope("device") monotonic, align 4

; If a kernel has few counters, a thread computes at these counters whether it counts, not at the kernel's beginning.
; CHECK-LABEL: define spir_kernel void @__msl_counted_guarded(
; CHECK: call spir_func void @_Z7barrierj(i32 1)
; CHECK-NEXT: %in = icmp slt i32 %i, %n
; CHECK-NEXT: br i1 %in, label %then, label %[[OUT:.*]]
; CHECK: [[OUT]]:
; CHECK: switch i32 %{{.*}}, label %{{.*}} [
; CHECK: atomicrmw add
; CHECK: then:
; CHECK-NEXT: store
; CHECK-NEXT: br label %end

; After a barrier in a loop, each thread calls the counting function. No branch skips this call.
; CHECK-LABEL: define spir_kernel void @__msl_counted_waits(
; CHECK: round:
; CHECK: %[[HERE:.*]] = phi i1 [
; CHECK-NOT: br i1
; CHECK: %[[AMOUNT:.*]] = select i1 %[[HERE]], i64 %{{.*}}, i64 0
; CHECK: call spir_func void @__msl_count(ptr addrspace(1) %{{.*}}, i64 %[[AMOUNT]])
; CHECK-NEXT: ret void

; CHECK-LABEL: define internal spir_func i32 @__msl_counted_step(
; CHECK-SAME: i32 %value, ptr addrspace(1) %{{.*}}, i1 %{{.*}})
; CHECK: call spir_func void @__msl_count(

; CHECK: define internal spir_func void @__msl_count(ptr addrspace(1) %0, i64 %1) #[[COUNT:[0-9]+]]
; CHECK: icmp ne i64 %1, 0
; CHECK: atomicrmw add ptr addrspace(1) %0, i32

; CHECK: define spir_kernel void @[[TABLE]](ptr addrspace(1) %{{.*}})
; CHECK: load i64, ptr addrspace(2)
; CHECK-NEXT: store i64
; CHECK: attributes #[[COUNT]] = { noinline nounwind }
; CHECK: ![[SPACES]] = !{i32 1, i32 0, i32 1}

!0 = !{i32 1, i32 0}
!1 = !{!"none", !"none"}
!2 = !{!"int*", !"int"}
!3 = !{!"", !""}
