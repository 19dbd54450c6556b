; Loops in CUDA's and HIP's kernels count in registers of 64 bits. After the loop, one atomic operation adds each register to its counter.
; RUN: sed 's/TRIPLE/nvptx64-nvidia-cuda/; s/KERNEL/ptx_kernel/' %s > %t.nvptx.ll
; RUN: sed 's/TRIPLE/amdgcn-amd-amdhsa/; s/KERNEL/amdgpu_kernel/' %s > %t.amdgpu.ll
; RUN: %opt -passes='msl-count<cfg>,verify' -S %t.nvptx.ll | FileCheck %s
; RUN: %opt -passes='msl-count<cfg>,verify' -S %t.amdgpu.ll | FileCheck %s
target triple = "TRIPLE"

; The counters of a nested loop are added after the outer loop.
; CHECK-LABEL: @__msl_counted_rounds(
; CHECK: {{^}}outer:
; CHECK-NEXT: %[[OUTER:[^ ]+]] = phi i64 [ 0, %[[BEGIN:[^ ]+]] ], [ %[[OUTER_NEXT:[^ ]+]], %[[OUTER_EDGE:[^ ]+]] ]
; CHECK-NEXT: %[[KEPT:[^ ]+]] = phi i64 [ 0, %[[BEGIN]] ], [ %[[INNER:[^ ]+]], %[[OUTER_EDGE]] ]
; CHECK-NOT: atomicrmw
; CHECK: {{^}}inner:
; CHECK-NEXT: %[[INNER]] = phi i64 [ %[[KEPT]], %outer ], [ %[[INNER_NEXT:[^ ]+]], %[[INNER_EDGE:[^ ]+]] ]
; CHECK-NOT: atomicrmw
; CHECK: %[[INNER_NEXT]] = add i64 %[[INNER]], 1
; CHECK-NOT: atomicrmw
; CHECK: %[[OUTER_NEXT]] = add i64 %[[OUTER]], 1
; CHECK-NOT: atomicrmw
; CHECK: {{^}}end:
; CHECK-NEXT: br i1
; CHECK: atomicrmw add ptr addrspace(1) %{{[^ ]+}}, i64 %[[INNER]] syncscope
; CHECK: atomicrmw add ptr addrspace(1) %{{[^ ]+}}, i64 %[[OUTER]] syncscope
; CHECK-NOT: atomicrmw
; CHECK: ret void
define KERNEL void @rounds(ptr addrspace(1) %out, i32 %n) {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %next_outer, %latch ]
  br label %inner
inner:
  %k = phi i32 [ 0, %outer ], [ %next, %inner ]
  %where = getelementptr i32, ptr addrspace(1) %out, i32 %k
  store i32 %i, ptr addrspace(1) %where
  %next = add i32 %k, 1
  %more = icmp slt i32 %next, %i
  br i1 %more, label %inner, label %latch
latch:
  %next_outer = add i32 %i, 1
  %more_outer = icmp slt i32 %next_outer, %n
  br i1 %more_outer, label %outer, label %end
end:
  ret void
}

; More than sixteen counters would fill the registers of the outer loop. So these counters are added to memory after the inner loop.
; CHECK-LABEL: @__msl_counted_many(
; CHECK: {{^}}outer:
; CHECK-NOT: atomicrmw
; CHECK: {{^}}inner:
; CHECK-NOT: atomicrmw
; CHECK: {{^}}latch:
; CHECK-NEXT: br i1
; CHECK-COUNT-18: atomicrmw add
; CHECK: {{^}}end:
define KERNEL void @many(ptr addrspace(1) %out, i32 %n) {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %next_outer, %latch ]
  br label %inner
inner:
  %k = phi i32 [ 0, %outer ], [ %next, %join ]
  switch i32 %k, label %join [
    i32 0, label %join
    i32 1, label %join
    i32 2, label %join
    i32 3, label %join
    i32 4, label %join
    i32 5, label %join
    i32 6, label %join
    i32 7, label %join
    i32 8, label %join
    i32 9, label %join
    i32 10, label %join
    i32 11, label %join
    i32 12, label %join
    i32 13, label %join
    i32 14, label %join
    i32 15, label %join
    i32 16, label %join
  ]
join:
  %where = getelementptr i32, ptr addrspace(1) %out, i32 %k
  store i32 %i, ptr addrspace(1) %where
  %next = add i32 %k, 1
  %more = icmp slt i32 %next, %i
  br i1 %more, label %inner, label %latch
latch:
  %next_outer = add i32 %i, 1
  %more_outer = icmp slt i32 %next_outer, %n
  br i1 %more_outer, label %outer, label %end
end:
  ret void
}
