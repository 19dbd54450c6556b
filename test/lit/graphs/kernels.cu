// Tests kernels as clang compiles them for CUDA and HIP, without an SDK. The IR is valid, and the back ends compile it. Each image counts
// the template instances that it contains.
// REQUIRES: cuda-without-sdk
// RUN: env MSLEAKS_PASS=cfg %clangxx -g -O2 -x cuda -nocudainc -nocudalib --cuda-device-only --cuda-gpu-arch=sm_80 --cuda-feature=+ptx70 --cuda-path=%t -Xclang -target-sdk-version=12.0 -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes=verify -disable-output %t.ll && FileCheck %s < %t.ll
// RUN: env MSLEAKS_PASS=cfg %clangxx -O0 -x cuda -nocudainc -nocudalib --cuda-device-only --cuda-gpu-arch=sm_80 --cuda-feature=+ptx70 --cuda-path=%t -Xclang -target-sdk-version=12.0 -S %s -o - | FileCheck %s --check-prefix=PTX
// RUN: env MSLEAKS_PASS=cfg %clangxx -O2 -x cuda -nocudainc -nocudalib --cuda-device-only --cuda-gpu-arch=sm_80 --cuda-feature=+ptx70 --cuda-path=%t -Xclang -target-sdk-version=12.0 -S %s -o - | FileCheck %s --check-prefix=PTX
// RUN: env MSLEAKS_PASS='cfg;counters=all' %clangxx -O2 -x hip -nogpuinc -nogpulib --cuda-device-only --offload-arch=gfx90a -emit-llvm -S %s -o %t.hip.ll
// RUN: %opt -passes=verify -disable-output %t.hip.ll && %llc -O2 -mcpu=gfx90a %t.hip.ll -o - | FileCheck %s --check-prefix=ASM
// RUN: env MSLEAKS_PASS=cfg %clangxx -O2 -x hip -nogpuinc -nogpulib --cuda-device-only --offload-arch=gfx942 -S %s -o - | FileCheck %s --check-prefix=ASM
// The number of threads in a wave depends on the processor and on the user's options.
// RUN: env MSLEAKS_PASS=cfg %clangxx -O2 -x hip -nogpuinc -nogpulib --cuda-device-only --offload-arch=gfx906 -emit-llvm -S %s -o - | FileCheck %s --check-prefix=WAVE64
// RUN: env MSLEAKS_PASS=cfg %clangxx -O2 -x hip -nogpuinc -nogpulib --cuda-device-only --offload-arch=gfx90a -emit-llvm -S %s -o - | FileCheck %s --check-prefix=WAVE64
// RUN: env MSLEAKS_PASS=cfg %clangxx -O2 -x hip -nogpuinc -nogpulib --cuda-device-only --offload-arch=gfx942 -emit-llvm -S %s -o - | FileCheck %s --check-prefix=WAVE64
// RUN: env MSLEAKS_PASS=cfg %clangxx -O2 -x hip -nogpuinc -nogpulib --cuda-device-only --offload-arch=gfx1100 -emit-llvm -S %s -o - | FileCheck %s --check-prefix=WAVE32
// RUN: env MSLEAKS_PASS=cfg %clangxx -O2 -x hip -nogpuinc -nogpulib --cuda-device-only --offload-arch=gfx1100 -mwavefrontsize64 -emit-llvm -S %s -o - | FileCheck %s --check-prefix=WAVE64
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))

#ifdef __HIP__
#define ME __builtin_amdgcn_workitem_id_x()
#define BARRIER __builtin_amdgcn_s_barrier()
#else
#define ME __nvvm_read_ptx_sreg_tid_x()
#define BARRIER __syncthreads()
extern "C" __device__ void __nvvm_bar_sync(int);
#endif

// CHECK-DAG: @__msl_graphs_{{[0-9a-f]+}} = weak protected addrspace(1) constant
// CHECK-DAG: @__msl_kernel__Z6reducePi = weak protected addrspace(1) constant { i32, i32, i32, i32, [40 x i8] } { i32 1, i32 1, i32 8, i32 32, [40 x i8] c"__msl_graphs_{{[0-9a-f]+}}\00{{.*}}" }
// CHECK-DAG: define {{.*}}void @_Z6reducePi(
// CHECK-DAG: define {{.*}}void @__msl_counted__Z6reducePi(
// CHECK-DAG: define {{.*}}void @__msl_counted__Z6chooseILi3EEvPi(
// CHECK-DAG: define internal {{.*}}i32 @__msl_counted__Z5stepsi(
// WAVE32: @__msl_kernel__Z6reducePi = {{.*}} { i32 1, i32 1, i32 8, i32 32,
// WAVE64: @__msl_kernel__Z6reducePi = {{.*}} { i32 1, i32 1, i32 8, i32 64,
// PTX-DAG: .entry _Z6reducePi(
// PTX-DAG: .entry __msl_counted__Z6reducePi(
// PTX-DAG: .entry __msl_counted__Z6chooseILi3EEvPi(
// ASM-DAG: {{^}}_Z6reducePi:
// ASM-DAG: {{^}}__msl_kernel__Z6reducePi:
// ASM-DAG: {{^}}__msl_counted__Z6reducePi:
// ASM-DAG: {{^}}__msl_counted__Z6chooseILi3EEvPi:
__attribute__((noinline)) __device__ int steps(int value) {
  int count = 0;
  for (; value > 1; ++count)
    value = value % 2 ? 3 * value + 1 : value / 2;
  return count;
}

__global__ void reduce(int *out) {
  __shared__ int part[128];
  int me = ME;
  part[me] = out[me];
#ifdef __HIP__
  BARRIER;
#else
  __nvvm_bar_sync(0);
#endif
  for (int k = 64; k > 0; k /= 2) {
    if (me < k)
      part[me] += part[me + k];
#ifdef __HIP__
    BARRIER;
#else
    __nvvm_bar_sync(0);
#endif
  }
  if (me == 0)
    out[0] = part[0] + steps(part[0]);
}

template <int kFactor> __global__ void choose(int *out) {
  int value = 0;
  for (int k = 0; k < out[ME]; ++k)
    switch (out[k] % 5) {
    case 0: value += kFactor; break;
    case 1: value ^= out[k]; break;
    case 3: out[k] = value; break;
    default: value -= k;
    }
  out[ME] = value;
}
template __global__ void choose<3>(int *);
