// In C, a block's destination may be a variable, a member, an element, memory behind a pointer, a global, or memory of the caller.
// RUN: %emit_c -O0 | %opt -passes='print<msl-sites>' -disable-output | FileCheck %s
// RUN: %emit_c -O2 | %opt -passes='print<msl-sites>' -disable-output | FileCheck %s
// The table in the object contains the names, also after optimisation.
// RUN: %clang -g -O0 -c %s -o %t.o && %sites %t.o | FileCheck --check-prefix=TABLE %s
// RUN: %clang -g -O2 -c %s -o %t.o && %sites %t.o | FileCheck --check-prefix=TABLE %s
#include "keep.h"
#include <stdlib.h>

typedef struct { int count; float *values; } weights_t;
typedef struct layer {
  int count;
  float *output;
  struct { double *deep; } inner;
  float *buffers[4];
  weights_t weights;
  union { int *only; long number; } clear;
  union { int *ints; float *floats; } unclear;
  struct layer *next;
} layer;
struct network {
  layer *layers;
  char **names;
};

static float *table[8];
static float *grid[3][4];
double *global_values;
layer global_layer;

// TABLE-DAG: make_layer calloc type='float' variable='l.output'
layer make_layer(int n) {
  layer l = {0};
  // CHECK: make_layer: calloc {{.*}}:[[#@LINE+1]]:{{.*}} type=float variable=l.output
  l.output = calloc(n, sizeof(float));
  // CHECK: :[[#@LINE+1]]:{{.*}} type=double variable=l.inner.deep
  l.inner.deep = malloc(8);
  // CHECK: :[[#@LINE+1]]:{{.*}} type=float variable=l.buffers[2]
  l.buffers[2] = malloc(4);
  // CHECK: :[[#@LINE+1]]:{{.*}} type=float variable=l.buffers[]
  l.buffers[n] = malloc(4);
  // CHECK: :[[#@LINE+1]]:{{.*}} type=float variable=l.weights.values
  l.weights.values = malloc(4);
  // CHECK: :[[#@LINE+1]]:{{.*}} type=int variable=l.clear.only
  l.clear.only = malloc(4);
  // This union has two pointers at the same offset, so the destination is unknown.
  // CHECK: :[[#@LINE+1]]:{{.*}} type=? variable=?
  l.unclear.floats = malloc(4);
  return l;
}

// TABLE-DAG: make_network malloc type='float' variable='net->layers[].output'
// TABLE-DAG: make_network malloc type='double' variable='global_values'
struct network *make_network(int n) {
  // CHECK: make_network: calloc {{.*}}:[[#@LINE+1]]:{{.*}} type=struct network variable=net
  struct network *net = calloc(1, sizeof *net);
  // CHECK: :[[#@LINE+1]]:{{.*}} type=layer variable=net->layers
  net->layers = calloc(n, sizeof(layer));
  // CHECK: :[[#@LINE+1]]:{{.*}} type=char * variable=net->names
  net->names = malloc(8 * n);
  // CHECK: :[[#@LINE+1]]:{{.*}} type=char variable=net->names[]
  net->names[n] = malloc(5);
  // CHECK: :[[#@LINE+1]]:{{.*}} type=float variable=net->layers[].output
  net->layers[n].output = malloc(4);
  // CHECK: :[[#@LINE+1]]:{{.*}} type=struct layer variable=net->layers[3].next
  net->layers[3].next = malloc(sizeof(layer));
  // CHECK: :[[#@LINE+1]]:{{.*}} type=double variable=net->layers[].next->inner.deep
  net->layers[n].next->inner.deep = malloc(8);
  // CHECK: :[[#@LINE+1]]:{{.*}} type=float variable=table[]
  table[n] = malloc(1);
  // CHECK: :[[#@LINE+1]]:{{.*}} type=float variable=grid[][]
  grid[n][n] = malloc(1);
  // CHECK: :[[#@LINE+1]]:{{.*}} type=double variable=global_values
  global_values = malloc(8);
  // CHECK: :[[#@LINE+1]]:{{.*}} type=float variable=global_layer.output
  global_layer.output = malloc(4);
  keep(table), keep(grid);
  return net;
}

void locals(int n) {
  // CHECK: locals: malloc {{.*}}:[[#@LINE+1]]:{{.*}} type=? variable=raw
  void *raw = malloc(n);
  // CHECK: :[[#@LINE+1]]:{{.*}} type=const char * variable=texts
  const char **texts = malloc(8);
  // CHECK: :[[#@LINE+1]]:{{.*}} type=int[16] variable=rows
  int(*rows)[16] = malloc(64);
  // CHECK: :[[#@LINE+1]]:{{.*}} type=void (*)(int, char *) variable=calls
  void (**calls)(int, char *) = malloc(8);
  // CHECK: :[[#@LINE+1]]:{{.*}} type=int variable=maybe
  int *maybe = n > 3 ? malloc(4) : 0;
  // CHECK: realloc {{.*}}:[[#@LINE+1]]:{{.*}} type=int variable=maybe
  maybe = realloc(maybe, 8);
  float *values, **out = &values;
  // CHECK: :[[#@LINE+1]]:{{.*}} type=float variable=*out
  *out = malloc(4);
  // CHECK: posix_memalign {{.*}}:[[#@LINE+1]]:{{.*}} type=float variable=values
  posix_memalign((void **)&values, 64, 64);
  // The block is passed to a function directly, so no variable is known.
  // CHECK: :[[#@LINE+1]]:{{.*}} type=? variable=?
  keep(malloc(n));
  keep(raw), keep(texts), keep(rows), keep(calls), keep(maybe), keep(values);
}

// A returned block has the element type of the function's result, and no variable.
// TABLE-DAG: returned malloc type='float' variable=''
float *returned(int n) {
  if (n < 0)
    return 0;
  // CHECK: returned: malloc {{.*}}:[[#@LINE+1]]:{{.*}} type=float variable=?
  return malloc(n);
}
