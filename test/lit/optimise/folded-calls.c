// The optimiser merges two calls, or replaces a call by another. The new call has no metadata, but gets the facts of the old calls. A
// fact is unknown if two old calls differ in it.
// RUN: %clang -g -O2 -S -emit-llvm %s -o - | FileCheck --check-prefix=IR %s
// RUN: %clang -g -O2 -c %s -o %t.o && %sites %t.o | FileCheck %s
#include <stdlib.h>
#include <string.h>

struct layer { float *output; };

// IR-LABEL: define{{.*}} @zeroed(
// IR: @__msl_gate.calloc
// CHECK-DAG: folded-calls.c:[[#@LINE+1]]:{{[0-9]+}} zeroed calloc type='float' variable='w'
void zeroed(struct layer *l, int n) { float *w = malloc(n * sizeof *w); if (w) memset(w, 0, n * sizeof *w); l->output = w; }

// IR-LABEL: define{{.*}} @grown(
// IR: @__msl_gate.malloc
// CHECK-DAG: folded-calls.c:[[#@LINE+1]]:{{[0-9]+}} grown malloc type='float' variable='l->output'
void grown(struct layer *l, int n) { l->output = realloc(NULL, n * 4); }

// Both merged calls have the same mark, so type and variable stay known.
// CHECK-DAG: folded-calls.c:[[#@LINE+1]]:{{[0-9]+}} either malloc type='float' variable='l->output'
void either(struct layer *l, int n, int c) { if (c) l->output = malloc(n); else l->output = malloc(n); }

// Calls on separate lines are merged, too. The line of the merged call is unknown.
// CHECK-DAG: folded-calls.c:0:0 lines malloc type='float' variable='l->output'
void lines(struct layer *l, int n, int c) {
  if (c)
    l->output = malloc(n);
  else
    l->output = malloc(n);
}

// The marks differ, so type and variable are unknown.
// CHECK-DAG: folded-calls.c:[[#@LINE+1]]:{{[0-9]+}} unlike malloc type='' variable=''
void unlike(struct layer *l, double **d, int n, int c) { if (c) l->output = malloc(n); else *d = malloc(n); }

// The line also calls helper(), whose malloc may have been inlined and merged. So type and variable are unknown.
static inline void helper(int **p, int n) { *p = malloc(n); }
// CHECK-NOT: inlined malloc type='float'
void inlined(struct layer *l, int n, int c) { if (c) l->output = malloc(n); else if (n) l->output = malloc(n); else helper((int **)&l->output, n); }

// A macro makes two calls at the same line and column. A call without metadata gets only the facts that both marks share.
#define BOTH(a, b, n) (memset(a = malloc(n), 0, n), memset(b = malloc(n), 0, n))
// CHECK-DAG: folded-calls.c:[[#@LINE+1]]:{{[0-9]+}} twice calloc type='float' variable=''
void twice(float **a, float **b, int n) { float *x, *y; BOTH(x, y, n); *a = x; *b = y; }
