// If the user asks for remarks, the pass reports the recorded calls and the calls that are not recorded. Otherwise it emits no remark.
// RUN: %clang -g -O2 -S -emit-llvm -o /dev/null %s -Rpass=msleaks -Rpass-missed=msleaks -Rpass-analysis=msleaks 2>&1 | FileCheck %s
// RUN: %clang -g -O0 -S -emit-llvm -o /dev/null %s -Rpass-missed=msleaks 2>&1 | FileCheck --check-prefix=MISSED %s
// RUN: %clang -g -O2 -S -emit-llvm -o /dev/null %s -Rpass=inline 2>&1 | FileCheck --check-prefix=NONE --allow-empty %s
// RUN: %clang -g -O2 -c -o %t.o %s -fsave-optimization-record=yaml -foptimization-record-file=%t.yaml && FileCheck --check-prefix=YAML %s < %t.yaml
#include "keep.h"
#include <stdlib.h>

// CHECK-DAG: recorded-and-left-alone.c:[[#@LINE+1]]:{{[0-9]+}}: remark: call of malloc is recorded as alloc of heap, variable values, type float [-Rpass=msleaks]
float *make(int n) { float *values = malloc(n); return values; }

// CHECK-DAG: recorded-and-left-alone.c:[[#@LINE+1]]:{{[0-9]+}}: remark: call of free is recorded as free of heap [-Rpass=msleaks]
void give_back(void *p) { free(p); }

// CHECK-DAG: recorded-and-left-alone.c:[[#@LINE+2]]:{{[0-9]+}}: remark: call of calloc must stay a tail call: only a hook can record what it returns [-Rpass-analysis=msleaks]
// CHECK-DAG: recorded-and-left-alone.c:[[#@LINE+1]]:{{[0-9]+}}: remark: call of calloc is recorded as alloc of heap
void *tail(size_t n, size_t m) { __attribute__((musttail)) return calloc(n, m); }

// CHECK-DAG: recorded-and-left-alone.c:[[#@LINE+2]]:{{[0-9]+}}: remark: call of malloc is not recorded: the function has the annotation msleaks.ignore [-Rpass-missed=msleaks]
// MISSED: recorded-and-left-alone.c:[[#@LINE+1]]:{{[0-9]+}}: remark: call of malloc is not recorded: the function has the annotation msleaks.ignore [-Rpass-missed=msleaks]
__attribute__((annotate("msleaks.ignore"))) void *quiet(int n) { return malloc(n); }

// CHECK-DAG: recorded-and-left-alone.c:[[#@LINE+1]]:{{[0-9]+}}: remark: call of malloc is not recorded: the function has the attribute disable_sanitizer_instrumentation
__attribute__((disable_sanitizer_instrumentation)) void *plain(int n) { return malloc(n); }

int cudaMalloc(double size);
// CHECK-DAG: recorded-and-left-alone.c:[[#@LINE+1]]:{{[0-9]+}}: remark: call of cudaMalloc is not recorded: its operands or its result are not those of the function that msleaks knows by this name
void other(void) { cudaMalloc(3.0); }

static void chosen(void) {}
// CHECK-DAG: recorded-and-left-alone.c:[[#@LINE+1]]:{{[0-9]+}}: remark: call of malloc is not recorded: the function is the resolver of an ifunc
__attribute__((used)) static void (*resolve(void))(void) { return keep(malloc(3)), chosen; }
void dispatched(void) __attribute__((ifunc("resolve")));

// NONE-NOT: remark: {{.*}}msleaks
// YAML: Pass: msleaks
// YAML-NEXT: Name: LeftAlone
// YAML: Name: Recorded
// YAML: Callee: malloc
