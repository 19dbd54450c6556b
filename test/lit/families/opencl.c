// Tests the calls of OpenCL. A cl_mem is a handle with a reference count. A call that creates a cl_mem stores its status at an address.
// RUN: %build_c -O0 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_c -O2 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_cxx -x c++ -DGUARDED -O0 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_cxx -x c++ -DGUARDED -O2 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %clangxx -x c++ -DGUARDED -O0 -S -emit-llvm %s -o - | FileCheck --check-prefix=INVOKE %s
// INVOKE-NOT: call {{.*}} @__msl_gate.cl
// INVOKE: invoke {{.*}} @__msl_gate.clCreateBuffer(
// INVOKE-NOT: call {{.*}} @__msl_gate.cl
#include "opencl.h"
#include "guard.h"
#include <stdio.h>

static const size_t global[2] = {64, 32}, local[2] = {8, 4};

int main(void) {
  GUARD;
  cl_context context = (cl_context)0x10;
  cl_command_queue queue = (cl_command_queue)0x20;
  cl_kernel kernel = (cl_kernel)0x30;
  cl_int status;
  // CHECK: before opencl alloc flags=0xc00 | clCreateBuffer at
  // CHECK: on_alloc_status opencl alloc flags=0xc00 block size=256 status=0 | clCreateBuffer at opencl.c:[[#@LINE+1]] in main variable=weights{{$}}
  cl_mem weights = clCreateBuffer(context, 1, 256, 0, &status);
  // CHECK: on_alloc_status opencl alloc flags=0xc00 null size=666 status=2 | clCreateBuffer at {{.*}} variable=refused{{$}}
  cl_mem refused = clCreateBuffer(context, 1, 666, 0, &status);
  // CHECK: on_retain opencl retain block | clRetainMemObject at
  clRetainMemObject(weights);
  // CHECK: on_alloc_status opencl alloc flags=0xc00 block size=512 status=0 | clCreateBufferWithProperties at {{.*}} variable=special{{$}}
  cl_mem special = clCreateBufferWithProperties(context, 0, 1, 512, 0, &status);
  // CHECK: on_alloc_status opencl alloc flags=0xc00 block size=96 status=0 | clCreatePipe at {{.*}} variable=pipe{{$}}
  cl_mem pipe = clCreatePipe(context, 1, 8, 12, 0, &status);
  clReleaseMemObject(special), clReleaseMemObject(pipe);
  // CHECK: on_alloc opencl alloc block size=128 | clSVMAlloc at {{.*}} variable=shared type=float
  float *shared = (float *)clSVMAlloc(context, 1, 128, 0);
  // CHECK: on_alloc opencl alloc null size=666 | clSVMAlloc at
  clSVMAlloc(context, 1, 666, 0);
  // CHECK: on_launch_range opencl launch kernel=0x30 queue=0x20 dimensions=2 global=32 local=4 | clEnqueueNDRangeKernel at
  clEnqueueNDRangeKernel(queue, kernel, 2, 0, global, local, 0, 0, 0);
  // CHECK: on_launch_range opencl launch kernel=0x30 queue=0x20 dimensions=1 global=64 local=0 | clEnqueueNDRangeKernel at
  clEnqueueNDRangeKernel(queue, kernel, 1, 0, global, 0, 0, 0, 0);
  // CHECK: on_launch opencl launch block stream=0x20 grid=0,0,0 block=0,0,0 shared=0 | clEnqueueTask at
  clEnqueueTask(queue, kernel, 0, 0, 0);
  cl_mem from = (cl_mem)0x200, to = (cl_mem)0x100;
  // CHECK: on_copy opencl copy flags=0x20 to=0x300 from=0x200 size=9 stream=0x20 direction=0 | clEnqueueReadBuffer at
  clEnqueueReadBuffer(queue, from, 1, 0, 9, (void *)0x300, 0, 0, 0);
  // CHECK: on_copy opencl copy flags=0x20 to=0x100 from=0x300 size=10 stream=0x20 direction=0 | clEnqueueWriteBuffer at
  clEnqueueWriteBuffer(queue, to, 1, 0, 10, (void *)0x300, 0, 0, 0);
  // CHECK: on_copy opencl copy flags=0x20 to=0x100 from=0x200 size=11 stream=0x20 direction=0 | clEnqueueCopyBuffer at
  clEnqueueCopyBuffer(queue, from, to, 0, 0, 11, 0, 0, 0);
  // CHECK: on_copy opencl copy flags=0x20 to=0x400 from=0x500 size=12 stream=0x20 direction=0 | clEnqueueSVMMemcpy at
  clEnqueueSVMMemcpy(queue, 1, (void *)0x400, (void *)0x500, 12, 0, 0, 0);
  // CHECK: on_set opencl set flags=0x20 to=0x100 value=0 size=13 stream=0x20 | clEnqueueFillBuffer at
  clEnqueueFillBuffer(queue, to, &status, 4, 0, 13, 0, 0, 0);
  // CHECK: on_set opencl set flags=0x20 to=0x400 value=0 size=14 stream=0x20 | clEnqueueSVMMemFill at
  clEnqueueSVMMemFill(queue, (void *)0x400, &status, 4, 14, 0, 0, 0);
  // CHECK: on_free opencl free block size=0 | clSVMFree at
  clSVMFree(context, shared);
  // CHECK: on_free opencl free block size=0 | clReleaseMemObject at
  clReleaseMemObject(weights);
  puts("done");
  return 0;
}
// PLAIN: done
// PLAIN-NOT: {{.}}
