; Remarks say how an OpenCL kernel may use its arguments. For images, metadata says this. A pointer to local memory gets no remark.
; RUN: %opt -passes='msl-count<cfg>,verify' -pass-remarks-analysis=msleaks -disable-output %s 2>&1 | FileCheck %s --implicit-check-not=remark
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64-G1"
target triple = "spirv64"

declare spir_func i64 @_Z13get_global_idj(i32) memory(none)
declare spir_func void @_Z7barrierj(i32) convergent
declare spir_func <4 x float> @_Z6vload4mPU3AS1Kf(i64, ptr addrspace(1)) memory(read)

; CHECK: remark: {{.*}}kernel work, argument 0: read{{$}}
; CHECK: remark: {{.*}}kernel work, argument 1: written{{$}}
; CHECK: remark: {{.*}}kernel work, argument 2: read, bytes 0 to 4
; CHECK: remark: {{.*}}kernel work, argument 4: read{{$}}
; CHECK: remark: {{.*}}kernel work, argument 5: written{{$}}
define spir_kernel void @work(ptr addrspace(1) %in, ptr addrspace(1) %out, ptr addrspace(2) %factor, ptr addrspace(3) %part, target("spirv.Image", void, 1, 0, 0, 0, 0, 0, 0) %from, target("spirv.Image", void, 1, 0, 0, 0, 0, 0, 1) %to) !kernel_arg_access_qual !0 {
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %values = call spir_func <4 x float> @_Z6vload4mPU3AS1Kf(i64 %i, ptr addrspace(1) %in)
  %value = extractelement <4 x float> %values, i32 0
  %scale = load float, ptr addrspace(2) %factor
  %scaled = fmul float %value, %scale
  store float %scaled, ptr addrspace(3) %part
  call spir_func void @_Z7barrierj(i32 1)
  %at = getelementptr inbounds float, ptr addrspace(1) %out, i64 %i
  store float %scaled, ptr addrspace(1) %at
  ret void
}
!0 = !{!"none", !"none", !"none", !"none", !"read_only", !"write_only"}
