// On the host, a regular expression or an attribute chooses the functions to count. Since clang 17, the
// expression also chooses the functions that clang makes for OpenMP regions of a chosen function.
// RUN: env MSLEAKS_PASS='cfg=^(work|listed)' %clangxx -O1 -fopenmp -S -emit-llvm %s -o %t.ll && FileCheck %s < %t.ll
// RUN: %if named-openmp-regions %{ FileCheck %s --check-prefix=REGION < %t.ll %}
// RUN: env MSLEAKS_PASS=cfg %clangxx -O1 -fopenmp -S -emit-llvm %s -o %t.ll && FileCheck %s --check-prefix=EACH < %t.ll
// RUN: env MSLEAKS_PASS= %clangxx -O1 -fopenmp -S -emit-llvm %s -o %t.ll && FileCheck %s --check-prefix=NONE < %t.ll
// NONE-NOT: @__msl_counters

// CHECK-LABEL: define {{.*}}@_Z5otherPii(
// CHECK-NOT: @__msl_counters
// EACH-LABEL: define {{.*}}@_Z5otherPii(
// EACH: @__msl_counters
int other(int *values, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i)
    if (values[i] > 0)
      sum += values[i];
  return sum;
}

// CHECK-LABEL: define {{.*}}@_Z6markedPii(
// CHECK: @__msl_counters
__attribute__((annotate("msleaks.cfg"))) int marked(int *values, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i)
    if (values[i] < 0)
      sum += values[i];
  return sum;
}

// CHECK-LABEL: define {{.*}}@_Z9annotatedPii(
// CHECK-NOT: @__msl_counters
__attribute__((annotate("another"))) int annotated(int *values, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i)
    if (values[i] < 7)
      sum += values[i];
  return sum;
}

// CHECK-LABEL: define {{.*}}@_Z4workPii(
// CHECK: @__msl_counters
// REGION-LABEL: define internal {{.*}}@_Z4workPii.omp_outlined(
// REGION: @__msl_counters
void work(int *values, int count) {
#pragma omp parallel for
  for (int i = 0; i < count; ++i)
    if (values[i] > 0)
      values[i] *= 3;
}
