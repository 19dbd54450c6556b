; Tests kernels of HIP. The counted copy reads the grid's size from the dispatch packet. So the copy loses amdgpu-no-dispatch-ptr.
; RUN: %opt -passes='msl-count<cfg>,verify' -S %s | FileCheck %s
; RUN: %opt -passes='msl-count<cfg>,verify' %s | %llc -mcpu=gfx906 -o - | FileCheck %s --check-prefixes=ASM,GFX9
; RUN: %opt -passes='msl-count<cfg>,verify' %s | %llc -mcpu=gfx90a -o - | FileCheck %s --check-prefixes=ASM,GFX9
; RUN: %opt -passes='msl-count<cfg>,verify' %s | %llc -mcpu=gfx1100 -o - | FileCheck %s --check-prefixes=ASM,GFX11
; RUN: %opt -passes='msl-count<cfg;counters=calls>,verify' %s | %llc -mcpu=gfx90a -o - | FileCheck %s --check-prefix=CALLS
target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

; CHECK: @__msl_graphs_{{[0-9a-f]+}} = weak protected addrspace(1) constant
; CHECK: define protected amdgpu_kernel void @work({{.*}}) #[[OWN:[0-9]+]]
; CHECK: define protected amdgpu_kernel void @__msl_counted_work({{.*}}ptr addrspace(1) noalias align 8 %{{[^ ]+}}) #[[COPY:[0-9]+]]
; CHECK: call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
; CHECK: atomicrmw add ptr addrspace(1) %{{.*}}, i64 {{.*}} syncscope("agent") monotonic, align 8
; CHECK: define internal i32 @__msl_counted_step({{.*}}) #[[STEP:[0-9]+]]
; CHECK: attributes #[[OWN]] = { {{.*}}"amdgpu-no-dispatch-ptr"
; Attributes for values that the copy does not read stay, also for the functions that it calls.
; CHECK: attributes #[[STEP]] = { {{.*}}"amdgpu-no-dispatch-ptr" "amdgpu-no-queue-ptr" "amdgpu-no-workitem-id-x"
; CHECK: attributes #[[COPY]] = { "amdgpu-flat-work-group-size"="1,256" "amdgpu-no-queue-ptr" }
; CALLS: __msl_count_edge:
; CALLS: {{(global|flat)}}_atomic_add
; ASM: __msl_counted_work:
; GFX9: global_atomic_add_x2 v
; GFX11: global_atomic_add_u64 v
; ASM: s_endpgm
; ASM: .name: {{ *}}__msl_counted_work
; ASM: .vgpr_spill_count: 0
define protected amdgpu_kernel void @work(ptr addrspace(1) %out, i32 %n) #0 {
entry:
  %has = icmp sgt i32 %n, 0
  br i1 %has, label %loop, label %end
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %where = getelementptr i32, ptr addrspace(1) %out, i32 %i
  %stepped = call i32 @step(i32 %i)
  store i32 %stepped, ptr addrspace(1) %where
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
define internal i32 @step(i32 %value) #1 {
  %odd = trunc i32 %value to i1
  br i1 %odd, label %one, label %two
one:
  ret i32 1
two:
  ret i32 2
}
attributes #0 = { "amdgpu-flat-work-group-size"="1,256" "amdgpu-no-dispatch-ptr" "amdgpu-no-queue-ptr" "amdgpu-no-workitem-id-x" }
attributes #1 = { noinline "amdgpu-no-dispatch-ptr" "amdgpu-no-queue-ptr" "amdgpu-no-workitem-id-x" }
