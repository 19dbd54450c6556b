; Tests CUDA's kernels. A calling convention (since LLVM 20) or a list of the module marks kernels. The code has 64-bit atomic operations.
; The image exports the table, and the back end compiles the code.
; RUN: %opt -passes='msl-count<cfg>,verify' -S %s | FileCheck %s
; RUN: %opt -passes='msl-count<cfg;counters=all>,verify' %s | %llc -mcpu=sm_70 -o - | FileCheck %s --check-prefix=PTX
; RUN: %opt -passes='msl-count<cfg;counters=calls>,verify' %s | %llc -mcpu=sm_70 -o - | FileCheck %s --check-prefix=CALLS
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK: @__msl_graphs_{{[0-9a-f]+}} = weak protected addrspace(1) constant

; CHECK: define {{.*}}void @work(ptr %out, i32 %n)
; CHECK-NOT: atomicrmw
; CHECK: define {{.*}}@__msl_counted_work(ptr %out, i32 %n, ptr addrspace(1) noalias align 8 %{{[^ ]+}})
; CHECK: @llvm.nvvm.read.ptx.sreg.ctaid.x
; CHECK: atomicrmw add ptr addrspace(1) %{{.*}}, i64 {{.*}} syncscope("device") monotonic, align 8
; CALLS: .visible .entry __msl_counted_work(
; CALLS: __msl_count_edge,
; CALLS: .func __msl_count_edge(
; CALLS: {{(atom|red).*}}global{{.*}}add.u64
; PTX: .visible .entry work(
; PTX: .visible .entry __msl_counted_work(
; PTX: .maxntid 128
; PTX: {{(atom|red).*}}global{{.*}}add.u64
define void @work(ptr %out, i32 %n) {
  %has = icmp sgt i32 %n, 7
  br i1 %has, label %store, label %end
store:
  store i32 %n, ptr %out
  br label %end
end:
  ret void
}

!nvvm.annotations = !{!0, !1}
!0 = !{ptr @work, !"kernel", i32 1}
!1 = !{ptr @work, !"maxntidx", i32 128}
