; With in-kernel, a kernel counts its own edges if a variable of its module is not null. The kernel's allocas stay in the first block. Debug
; information describes the kernel's code once. An attribute that is untrue for the counting code is removed.
; RUN: %opt -passes='msl-count<cfg;in-kernel>,verify' -S %s | FileCheck %s
; RUN: sed -e 's/nvptx64-nvidia-cuda/amdgcn-amd-amdhsa/' -e 's/ptx_kernel/amdgpu_kernel/' -e '/datalayout/d' -e '/nvvm/d' -e 's/alloca i32/alloca i32, addrspace(5)/' -e 's/ptr %kept/ptr addrspace(5) %kept/' -e 's/ \(volatile i32, ptr\) addrspace(5)/ \1 addrspace(5)/' %s > %t.ll
; RUN: %opt -passes='msl-count<cfg;in-kernel>,verify' -S %t.ll | FileCheck %s --check-prefix=AMD
; RUN: %opt -passes='msl-count<cfg;in-kernel>,verify' %t.ll | %llc -mcpu=gfx90a -o - | FileCheck %s --check-prefix=GCN
; An OpenCL host cannot set a variable of the program, so an OpenCL kernel always has a counted copy.
; RUN: %opt -passes='msl-count<cfg;in-kernel>,verify' -S %S/kernels-spirv.ll | FileCheck %s --check-prefix=SPIRV
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK: @__msl_graphs_[[HASH:[0-9a-f]+]] = weak protected addrspace(1) constant
; CHECK: @__msl_counts_[[HASH]] = weak protected addrspace(1) externally_initialized global ptr addrspace(1) null, align 8
; CHECK: @__msl_kernel_work = weak protected addrspace(1) constant
; CHECK: define protected {{.*}}void @work(ptr %out, i32 %n) #[[OWN:[0-9]+]] !dbg ![[SP:[0-9]+]] {
; CHECK-NEXT: alloca i32
; CHECK-NEXT: alloca i32
; CHECK-NEXT: %[[COUNTS:.*]] = load ptr addrspace(1), ptr addrspace(1) @__msl_counts_[[HASH]], align 8
; CHECK-NEXT: %[[COUNTS_IT:.*]] = icmp ne ptr addrspace(1) %[[COUNTS]], null
; CHECK-NEXT: br i1 %[[COUNTS_IT]], label %[[COUNTING:.*]], label %[[PLAIN:.*]]
; CHECK: [[PLAIN]]:
; CHECK-NOT: atomicrmw
; CHECK: call i32 @step(
; CHECK-NOT: atomicrmw
; CHECK: ret void
; CHECK: [[COUNTING]]:
; CHECK: getelementptr i8, ptr addrspace(1) %[[COUNTS]]
; CHECK: atomicrmw add
; CHECK: call i32 @__msl_counted_step(
; CHECK: ret void
; CHECK: define protected {{.*}}void @__msl_in_kernel_work(ptr %out, i32 %n, ptr addrspace(1) {{.*}}) #{{[0-9]+}} {
; CHECK-NEXT: ret void
; CHECK-NOT: @__msl_counted_work
; CHECK: ![[SP]] = distinct !DISubprogram(name: "work"
; CHECK-NOT: !DISubprogram(name: "work"

; AMD: define protected amdgpu_kernel void @work({{.*}}) #[[OWN:[0-9]+]]
; AMD: call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
; AMD: attributes #[[OWN]] = { "amdgpu-no-queue-ptr" }
; GCN: work:
; GCN: global_atomic_add_x2 v
; GCN: __msl_in_kernel_work:
; SPIRV: define spir_kernel void @__msl_counted_
; SPIRV-NOT: in_kernel
define protected ptx_kernel void @work(ptr %out, i32 %n) #0 !dbg !4 {
entry:
  %kept = alloca i32
  store volatile i32 %n, ptr %kept, !dbg !7
  %has = icmp sgt i32 %n, 0, !dbg !7
  br i1 %has, label %loop, label %end, !dbg !7
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %where = getelementptr i32, ptr %out, i32 %i, !dbg !7
  %stepped = call i32 @step(i32 %i), !dbg !7
  store i32 %stepped, ptr %where, !dbg !7
  %next = add i32 %i, 1, !dbg !7
  %more = icmp slt i32 %next, %n, !dbg !7
  br i1 %more, label %loop, label %end, !dbg !7
end:
  ret void, !dbg !7
}
define internal i32 @step(i32 %value) {
  %odd = trunc i32 %value to i1
  br i1 %odd, label %one, label %two
one:
  ret i32 1
two:
  ret i32 2
}

attributes #0 = { "amdgpu-no-dispatch-ptr" "amdgpu-no-queue-ptr" }

!nvvm.annotations = !{!8}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "work.cu", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 2, !"Dwarf Version", i32 4}
!4 = distinct !DISubprogram(name: "work", scope: !1, file: !1, line: 1, type: !5, spFlags: DISPFlagDefinition, unit: !0)
!5 = !DISubroutineType(types: !6)
!6 = !{null}
!7 = !DILocation(line: 2, scope: !4)
!8 = !{ptr @work, !"kernel", i32 1}
