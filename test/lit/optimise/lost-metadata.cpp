// Types and variables stay known although the optimiser drops the metadata of a call. This happens if the optimiser inlines a call into
// a function with cleanups, since the call becomes an invoke. The pass finds the mark by scope, line and column.
// RUN: %clangxx -g -O0 -c %s -o %t.o && %sites %t.o | FileCheck %s
// RUN: %clangxx -g -O1 -c %s -o %t.o && %sites %t.o | FileCheck %s
// RUN: %clangxx -g -O2 -c %s -o %t.o && %sites %t.o | FileCheck %s
// RUN: %clangxx -g -O3 -c %s -o %t.o && %sites %t.o | FileCheck %s
#include <cstddef>
#include <new>

extern "C" int cudaMalloc(void **, std::size_t);
struct Guard { ~Guard(); };
struct Foo { int x[4]; };
void use(void *);

static inline Foo *make() { Foo *made = new Foo; return made; }
void guarded() { Guard g; Foo *mine = make(); use(mine); }
// CHECK-DAG: lost-metadata.cpp:[[#@LINE-2]]:{{[0-9]+}} _ZL4makev _Znwm type='Foo' variable='made'

static inline float *dev(std::size_t n) { float *weights; cudaMalloc((void **)&weights, n * 4); return weights; }
void onDevice(std::size_t n) { Guard g; use(dev(n)); }
// CHECK-DAG: lost-metadata.cpp:[[#@LINE-2]]:{{[0-9]+}} _ZL3devm cudaMalloc type='float' variable='weights'
