; Remarks say how a kernel may use the memory that its arguments point to, in any launch. The result is an upper bound: if an address
; cannot be followed, its memory counts as read and written.
; RUN: %opt -passes='msl-count<cfg>,verify' -pass-remarks-analysis=msleaks -disable-output %s 2>&1 | FileCheck %s --implicit-check-not=remark
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@block = internal addrspace(3) global [64 x i32] undef
@table = internal addrspace(4) constant [4 x i32] [i32 1, i32 2, i32 3, i32 4]
@total = addrspace(1) global i32 0

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare float @llvm.fabs.f32(float)
declare void @elsewhere(ptr)
declare float @sum_of(ptr) memory(read)
declare i64 @number_of(ptr) memory(read)
declare <2 x float> @llvm.masked.gather.v2f32.v2p0(<2 x ptr>, i32, <2 x i1>, <2 x float>)
declare void @llvm.masked.scatter.v2f32.v2p0(<2 x float>, <2 x ptr>, i32, <2 x i1>)

; The kernel uses one of 16 elements of %in, an element of %out with an unknown index, and the third element of %sum.
; CHECK: remark: {{.*}}kernel indexed, argument 0: read, bytes 0 to 64
; CHECK: remark: {{.*}}kernel indexed, argument 1: written{{$}}
; CHECK: remark: {{.*}}kernel indexed, argument 2: read and written, bytes 8 to 12
; CHECK: remark: {{.*}}kernel indexed, argument 3: not used
define ptx_kernel void @indexed(ptr %in, ptr %out, ptr %sum, ptr %unused, i32 %n) {
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %index = and i32 %block, 15
  %wide = zext i32 %index to i64
  %from = getelementptr inbounds float, ptr %in, i64 %wide
  %value = load float, ptr %from
  %sized = sext i32 %n to i64
  %to = getelementptr inbounds float, ptr %out, i64 %sized
  store float %value, ptr %to
  %third = getelementptr inbounds i8, ptr %sum, i64 8
  %old = atomicrmw fadd ptr %third, float %value monotonic
  ret void
}

; The loop has a known number of iterations. It reads 9 elements, from the fifth element on.
; CHECK: remark: {{.*}}kernel filter, argument 0: read, bytes 16 to 52
; CHECK: remark: {{.*}}kernel filter, argument 1: written, bytes 0 to 4
define ptx_kernel void @filter(ptr %weights, ptr %out) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %behind = add nuw nsw i64 %i, 4
  %from = getelementptr inbounds float, ptr %weights, i64 %behind
  %weight = load float, ptr %from
  %more = fadd float %sum, %weight
  %next = add nuw nsw i64 %i, 1
  %is_done = icmp eq i64 %next, 9
  br i1 %is_done, label %end, label %loop
end:
  store float %more, ptr %out
  ret void
}

; The kernel calls functions that use the memory. @put is in this module, the other functions are not.
; CHECK: remark: {{.*}}kernel calls, argument 0: written, bytes 4 to 8
; CHECK: remark: {{.*}}kernel calls, argument 1: read{{$}}
; CHECK: remark: {{.*}}kernel calls, argument 2: read and written{{$}}
; CHECK: remark: {{.*}}kernel calls, argument 3: read, bytes 0 to 32
; CHECK: remark: {{.*}}kernel calls, argument 4: read and written{{$}}
; CHECK: remark: {{.*}}kernel calls may use memory to which none of its arguments points
define ptx_kernel void @calls(ptr %a, ptr %b, ptr %c, ptr %d, ptr %e) {
  %local = alloca [32 x i8]
  %behind = getelementptr inbounds i8, ptr %a, i64 4
  call void @put(ptr %behind)
  %sum = call float @sum_of(ptr %b)
  call void @elsewhere(ptr %c)
  call void @llvm.memcpy.p0.p0.i64(ptr %local, ptr %d, i64 32, i1 false)
  %number = call i64 @number_of(ptr %e)
  ret void
}
define internal void @put(ptr %to) noinline {
  store i32 1, ptr %to
  ret void
}

; The kernel reads %a or %b. It stores %kept, converts %number to an integer, and passes %again to a recursive function.
; CHECK: remark: {{.*}}kernel shared, argument 0: read{{$}}
; CHECK: remark: {{.*}}kernel shared, argument 1: read{{$}}
; CHECK: remark: {{.*}}kernel shared, argument 2: read and written{{$}}
; CHECK: remark: {{.*}}kernel shared, argument 3: read and written{{$}}
; CHECK: remark: {{.*}}kernel shared, argument 4: read and written{{$}}
define ptx_kernel void @shared(ptr %a, ptr %b, ptr %kept, ptr %number, ptr %again, i1 %which) {
  %one = select i1 %which, ptr %a, ptr %b
  %value = load i32, ptr %one
  %place = alloca ptr
  store ptr %kept, ptr %place
  %bits = ptrtoint ptr %number to i64
  %low = trunc i64 %bits to i32
  store i32 %low, ptr addrspace(3) @block
  call void @itself(ptr %again, i32 %value)
  ret void
}
define internal void @itself(ptr %at, i32 %n) noinline {
  %is_done = icmp eq i32 %n, 0
  br i1 %is_done, label %end, label %on
on:
  store i32 %n, ptr %at
  %behind = getelementptr inbounds i8, ptr %at, i64 4
  %less = sub i32 %n, 1
  call void @itself(ptr %behind, i32 %less)
  br label %end
end:
  ret void
}

; The kernel also uses memory of the module, of the thread block and of the thread. The program cannot allocate such memory.
; CHECK: remark: {{.*}}kernel own, argument 0: written, bytes 0 to 4
define ptx_kernel void @own(ptr %out, ptr byval({ ptr, i32 }) %given, i64 %number) {
  %local = alloca i32
  store i32 1, ptr %local
  %field = getelementptr inbounds i8, ptr %given, i64 8
  %a = load i32, ptr %field
  %b = load i32, ptr addrspace(4) @table
  %c = load i32, ptr addrspace(3) @block
  %d = atomicrmw add ptr addrspace(1) @total, i32 1 monotonic
  %ab = add i32 %a, %b
  %abc = add i32 %ab, %c
  %abcd = add i32 %abc, %d
  store i32 %abcd, ptr %out
  ret void
}

; These kernels get an address from a struct, from memory or from a number. So they may use memory that no argument points to.
; CHECK: remark: {{.*}}kernel hidden, argument 1: written, bytes 0 to 4
; CHECK: remark: {{.*}}kernel hidden may use memory to which none of its arguments points
define ptx_kernel void @hidden(ptr byval({ ptr, i32 }) %given, ptr %out) {
  %address = load ptr, ptr %given
  %value = load i32, ptr %address
  store i32 %value, ptr %out
  ret void
}
; CHECK: remark: {{.*}}kernel chased, argument 0: read, bytes 0 to 8
; CHECK: remark: {{.*}}kernel chased may use memory to which none of its arguments points
define ptx_kernel void @chased(ptr %list) {
  %next = load ptr, ptr %list
  store i32 0, ptr %next
  ret void
}
; CHECK: remark: {{.*}}kernel made may use memory to which none of its arguments points
define ptx_kernel void @made(i64 %number) {
  %address = inttoptr i64 %number to ptr
  store i32 0, ptr %address
  ret void
}

; A number, not an address, selects the texture that this kernel reads.
; CHECK: remark: {{.*}}kernel textured, argument 1: written, bytes 0 to 4
; CHECK: remark: {{.*}}kernel textured may use memory to which none of its arguments points
declare { float, float, float, float } @llvm.nvvm.tex.unified.1d.v4f32.s32(i64, i32)
define ptx_kernel void @textured(i64 %texture, ptr %out) {
  %texel = call { float, float, float, float } @llvm.nvvm.tex.unified.1d.v4f32.s32(i64 %texture, i32 3)
  %value = extractvalue { float, float, float, float } %texel, 0
  store float %value, ptr %out
  ret void
}

; These kernels use vectors of addresses: computed from an argument, computed from numbers, and passed as an argument.
; CHECK: remark: {{.*}}kernel gathered, argument 0: read{{$}}
; CHECK: remark: {{.*}}kernel gathered, argument 1: written, bytes 0 to 8
define ptx_kernel void @gathered(ptr %in, ptr %out, <2 x i64> %places, <2 x i1> %which) {
  %from = getelementptr float, ptr %in, <2 x i64> %places
  %values = call <2 x float> @llvm.masked.gather.v2f32.v2p0(<2 x ptr> %from, i32 4, <2 x i1> %which, <2 x float> zeroinitializer)
  store <2 x float> %values, ptr %out
  ret void
}
; CHECK: remark: {{.*}}kernel gathers, argument 1: written, bytes 0 to 8
; CHECK: remark: {{.*}}kernel gathers may use memory to which none of its arguments points
define ptx_kernel void @gathers(<2 x i64> %numbers, ptr %out, <2 x i1> %which) {
  %from = inttoptr <2 x i64> %numbers to <2 x ptr>
  %values = call <2 x float> @llvm.masked.gather.v2f32.v2p0(<2 x ptr> %from, i32 4, <2 x i1> %which, <2 x float> zeroinitializer)
  store <2 x float> %values, ptr %out
  ret void
}
; CHECK: remark: {{.*}}kernel scatters, argument 0: read, bytes 0 to 8
; CHECK: remark: {{.*}}kernel scatters may use memory to which none of its arguments points
define ptx_kernel void @scatters(ptr %in, <2 x ptr> %to, <2 x i1> %which) {
  %values = load <2 x float>, ptr %in
  call void @llvm.masked.scatter.v2f32.v2p0(<2 x float> %values, <2 x ptr> %to, i32 4, <2 x i1> %which)
  ret void
}
