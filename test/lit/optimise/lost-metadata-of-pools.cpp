// Type and variable stay known although the optimiser drops metadata, also for a call of a user's allocator.
// REQUIRES: annotated-declarations
// RUN: %clangxx -g -O0 -c %s -o %t.o && %sites %t.o | FileCheck %s
// RUN: %clangxx -g -O2 -c %s -o %t.o && %sites %t.o | FileCheck %s
#include <cstddef>

struct Guard { ~Guard(); };
void use(void *);

__attribute__((annotate("msleaks.alloc"))) void *poolGet(std::size_t);
static inline double *pooled(std::size_t n) { double *grad = (double *)poolGet(n); return grad; }
void onPool(std::size_t n) { Guard g; use(pooled(n)); }
// CHECK-DAG: lost-metadata-of-pools.cpp:[[#@LINE-2]]:{{[0-9]+}} _ZL6pooledm _Z7poolGetm type='double' variable='grad'
