// Tests the pass for 64-bit ARM. The test includes only the tests' own headers, so it needs no cross compiler.
// RUN: %clangxx --target=aarch64-linux-gnu -O0 -S -emit-llvm %s -o - | FileCheck %s
// RUN: %clangxx --target=aarch64-linux-gnu -O2 -S -emit-llvm %s -o - | FileCheck %s
// With branch protection, each function, also an inserted one, accepts indirect branches and signs its return address. In LLVM 18
// and later, an indirect branch to a function without these attributes would trap. (Only definitions have uwtable.)
// RUN: %clangxx --target=aarch64-linux-gnu -mbranch-protection=standard -O2 -S -emit-llvm %s -o %t.ll
// RUN: grep '^attributes .*uwtable' %t.ll >%t.defined
// RUN: %if default-attributes %{ not grep -v '"branch-target-enforcement".*"sign-return-address"' %t.defined %}
// RUN: %clangxx --target=aarch64-linux-gnu -mbranch-protection=standard -O2 -S %s -o %t.s
// RUN: FileCheck --check-prefix=ASM %s <%t.s
// Older versions of LLVM store the protection in the module, and protect the beginning of each function, even if no code branches there.
// RUN: grep -c cfi_startproc %t.s >%t.functions
// RUN: grep -A3 cfi_startproc %t.s | grep -cE 'paciasp|bti|hint' >%t.protected
// RUN: %if !default-attributes %{ diff %t.functions %t.protected %}
#include "cuda.h"

void kernel();

// A dim3 is passed in two registers, as [2 x i64]: x and y in the first, z in the lower half of the second.
// CHECK-DAG: extractvalue [2 x i64] {{[^,]+}}, 0
// CHECK-DAG: extractvalue [2 x i64] {{[^,]+}}, 1
// CHECK-DAG: trunc i64 {{[^,]+}} to i32
// CHECK: call void @__msl_on_launch(i32 {{[^,]+}}, i32 {{[^,]+}}, ptr {{[^,]+}}, ptr {{[^,]+}}, i64 %{{[^,]+}}, i32 %{{[^,]+}}, i64 %{{[^,]+}}, i32 %{{[^,]+}}, i32 {{[^,]+}})
// ASM: __msl_on_launch
int launch(dim3 grid, dim3 block, cudaStream_t stream) {
  return cudaLaunchKernel((void *)kernel, grid, block, nullptr, 0, stream);
}

// CHECK: call void @__msl_on_alloc_out(i32 {{[^,]+}}, i32 {{[^,]+}}, ptr {{[^,]+}}, i64 {{[^,]+}}, i64 {{[^,)]+}})
// ASM: __msl_on_alloc_out
int make(void **block) { return cudaMalloc(block, 64); }

// CHECK: call void @__msl_on_free(i32 {{[^,]+}}, i32 {{[^,]+}}, ptr {{[^,]+}}, i64 0)
// ASM: __msl_on_free
int give(void *block) { return cudaFree(block); }

// CHECK: declare extern_weak void @__msl_arm{{[^(]*}}(ptr, ptr)
// ASM: __msl_image_ctor{{.*}}:
// ASM: {{paciasp|bti|hint}}
// ASM: __msl_arm
// ASM: __msl_image_dtor{{.*}}:
// ASM: __msl_disarm
