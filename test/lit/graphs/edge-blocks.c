// With counters=calls, each edge between two blocks of a kernel gets its own block in the IR. This block is named after the edge, even if
// clang drops all other names.
// RUN: env MSLEAKS_PASS='cfg;counters=calls' %clang --target=spirv64 -x cl -O1 -S -emit-llvm %s -o - | FileCheck %s
// RUN: env MSLEAKS_PASS='cfg;counters=all' %clang --target=spirv64 -x cl -O1 -S -emit-llvm %s -o - | FileCheck %s --check-prefix=ALL
// RUN: env MSLEAKS_PASS='cfg;counters=calls' %clang -O1 -S -emit-llvm %s -o - | FileCheck %s --check-prefix=HOST
// ALL-NOT: edge1_2
// The calls of two edges are never merged.
// HOST: call void @__msl_count_edge(ptr %counters, i32 1, i32 1, i32 1) #[[CALL:[0-9]+]]
// HOST-NOT: call void @__msl_count_edge(ptr %counters, i32 %
// HOST: attributes #[[CALL]] = { {{.*}}nomerge
#ifndef __OPENCL_C_VERSION__
#define kernel
#define global
#endif
int one(int), other(int);
// CHECK-LABEL: define spir_kernel void @__msl_counted_choose(
// CHECK: switch i32 %{{.*}}, label %edge1_[[DEFAULT:[0-9]+]] [
// CHECK-NEXT: i32 1, label %edge1_[[ONE:[0-9]+]]
// CHECK-NEXT: i32 5, label %edge1_[[TWO:[0-9]+]]
// CHECK-NEXT: i32 700, label %edge1_[[TWO]].2
// CHECK: {{^}}edge1_[[ONE]]:
// CHECK-NEXT: %[[COUNTS:.*]] = select i1
// CHECK-NEXT: call spir_func void @__msl_count_edge({{.*}}, i32 %[[COUNTS]])
// CHECK-NEXT: br label
// CHECK: {{^}}edge[[ONE]]_{{[0-9]+}}:
kernel void choose(global int *out, int n) {
  switch (n) {
  case 1:
    *out = one(n) + 1;
    break;
  case 5:
  case 700:
    *out = other(n) - 2;
    break;
  default:
    *out = other(n + 3);
  }
}
