// With clang's -save-stats, the statistics contain the numbers of recorded and other calls, in every build of LLVM.
// RUN: rm -rf %t && mkdir -p %t/ours %t/other
// RUN: %clang -O1 -c %s -o %t/ours/o.o -save-stats=obj
// RUN: FileCheck %s < %t/ours/statistics.stats
// RUN: %clang -O1 -c %s -o %t/other/o.o -save-stats=obj --target=i686-linux-gnu
// RUN: FileCheck --check-prefix=OTHER %s < %t/other/statistics.stats
#include "keep.h"

typedef __SIZE_TYPE__ size_t;
void *malloc(size_t), *calloc(size_t, size_t);
void free(void *);

// CHECK-DAG: "msleaks.Marked": 5
// CHECK-DAG: "msleaks.Recorded": 3
// CHECK-DAG: "msleaks.TailCalls": 1
// CHECK-DAG: "msleaks.LeftAlone": 2
// OTHER: "msleaks.OtherTargets": 1
// OTHER-NOT: msleaks.
void *make(int n) { void *p = malloc(n); keep(p); return p; }
void deleted(int n) { free(malloc(n)); }
void give_back(void *p) { free(p); }
void *tail(size_t n, size_t m) { __attribute__((musttail)) return calloc(n, m); }

__attribute__((annotate("msleaks.ignore"))) void *quiet(int n) { return malloc(n); }
int cudaMalloc(double size);
void other(void) { cudaMalloc(3.0); }
