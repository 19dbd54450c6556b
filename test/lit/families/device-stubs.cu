// kernel<<<…>>>(…) calls a launch stub. A callback announces the site of this call. The launch inside the stub is recorded with this
// site, not with its own line, which is the kernel's head. The test compiles for the host only, without an SDK.
// REQUIRES: cuda-without-sdk
// RUN: %clangxx -g -O0 -x cuda -nocudainc -nocudalib --cuda-host-only --cuda-path=%t -Xclang -target-sdk-version=12.0 -S -emit-llvm %s -o - -DLAUNCH=cudaLaunchKernel -DPUSH=__cudaPushCallConfiguration -DPOP=__cudaPopCallConfiguration | FileCheck --check-prefixes=CHECK,CUDA %s
// RUN: %clangxx -g -O2 -x cuda -nocudainc -nocudalib --cuda-host-only --cuda-path=%t -Xclang -target-sdk-version=12.0 -S -emit-llvm %s -o - -DLAUNCH=cudaLaunchKernel -DPUSH=__cudaPushCallConfiguration -DPOP=__cudaPopCallConfiguration | FileCheck --check-prefix=INLINED %s
// RUN: %clangxx -g -O0 -x hip -nogpuinc -nogpulib --cuda-host-only -S -emit-llvm %s -o - -DLAUNCH=hipLaunchKernel -DPUSH=__hipPushCallConfiguration -DPOP=__hipPopCallConfiguration | FileCheck --check-prefixes=CHECK,HIP %s
// RUN: %clangxx -g -O2 -x hip -nogpuinc -nogpulib --cuda-host-only -S -emit-llvm %s -o - -DLAUNCH=hipLaunchKernel -DPUSH=__hipPushCallConfiguration -DPOP=__hipPopCallConfiguration | FileCheck --check-prefix=INLINED %s
typedef unsigned long size_t;
typedef struct stream *stream_t;
typedef stream_t cudaStream_t, hipStream_t;
typedef int cudaError_t, hipError_t;
struct dim3 {
  unsigned x, y, z;
  __attribute__((host)) __attribute__((device)) constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
extern "C" cudaError_t LAUNCH(const void *, dim3, dim3, void **, size_t, stream_t);
extern "C" unsigned PUSH(dim3, dim3, size_t = 0, stream_t = nullptr);
extern "C" cudaError_t POP(dim3 *, dim3 *, size_t *, void *);

// CHECK-LABEL: define{{.*}} @_Z20__device_stub__scalefPf(
// CUDA: call {{.*}}@__msl_gate.cudaLaunchKernel(
// HIP: call {{.*}}@__msl_gate.hipLaunchKernel(
__attribute__((global)) void scale(float by, float *values) { values[0] *= by; }

// CHECK-LABEL: define{{.*}} @_Z3runPf(
// CHECK-NOT: @__msl
// CHECK: call void @__msl_gate._Z20__device_stub__scalefPf(
// CHECK-NOT: @__msl
// CHECK: ret void

// After inlining of the stub, the inline chain of the launch contains this line, so no callback announces the site.
// INLINED-LABEL: define{{.*}} @_Z3runPf(
// INLINED-NOT: @__msl
// INLINED: call {{.*}}@__msl_gate.{{cuda|hip}}LaunchKernel(
void run(float *values) { scale<<<dim3(3, 2), 64>>>(2.f, values); }

// The stub's body is in another file. The call that configures the launch shows whether the stub uses CUDA or HIP.
// CHECK-LABEL: define{{.*}} @_Z9elsewherePf(
// CHECK: call void @__msl_gate._Z21__device_stub__remotePf(
__attribute__((global)) void remote(float *values);
void elsewhere(float *values) { remote<<<1, 1>>>(values); }

// A function of the user is no stub, even if its name contains `__device_stub__`.
// CHECK-LABEL: define{{.*}} @_Z4minePf(
// CHECK-NOT: @__msl
// CHECK: ret void
void my__device_stub__x(float *);
namespace x20 { void x1__device_stub__y(float *); }
void mine(float *values) {
  my__device_stub__x(values);
  x20::x1__device_stub__y(values);
}

// The pass recognises the names that clang gives to the stubs of a kernel in a namespace and of a C kernel.
// CHECK-LABEL: define{{.*}} @_Z5namedPf(
// CHECK: call void @__msl_gate._ZN1n19__device_stub__deepEPf(
// CHECK: call void @__msl_gate.__device_stub__plain(
namespace n { __attribute__((global)) void deep(float *); }
extern "C" __attribute__((global)) void plain(float *);
void named(float *values) {
  n::deep<<<1, 1>>>(values);
  plain<<<1, 1>>>(values);
}

// CUDA-LABEL: define internal i32 @__msl_armed.cudaLaunchKernel(
// HIP-LABEL: define internal i32 @__msl_armed.hipLaunchKernel(
// CHECK: call void @__msl_on_launch(
// CUDA: call i32 @cudaLaunchKernel(
// HIP: call i32 @hipLaunchKernel(
// CHECK: call void @__msl_on_failed(
// CHECK-NEXT: ret i32

// The last number of each callback contains verb 5 (launch), family 2 (CUDA) or 3 (HIP), and the heap of the device.
// CHECK-LABEL: define internal void @__msl_armed._Z20__device_stub__scalefPf(
// CUDA: call void @__msl_announce(i32 %{{.*}}, i32 83886594)
// HIP: call void @__msl_announce(i32 %{{.*}}, i32 83886850)
// CHECK-NEXT: call void @_Z20__device_stub__scalefPf(
// CHECK-NEXT: call void @__msl_cancel(
// CHECK-NEXT: ret void
// CHECK-LABEL: define internal void @__msl_armed._Z21__device_stub__remotePf(
// CUDA: call void @__msl_announce(i32 %{{.*}}, i32 83886594)
// HIP: call void @__msl_announce(i32 %{{.*}}, i32 83886850)
