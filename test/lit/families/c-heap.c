// For each function of the C heap, the log shows the size, the result, and the variable that gets the block.
// RUN: %build_c -O0 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_c -O2 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
#include "keep.h"
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

void cfree(void *);
void *reallocarray(void *, size_t, size_t);

int main(void) {
  // CHECK: before heap alloc | malloc
  // CHECK: on_alloc heap alloc block size=40 | malloc at c-heap.c:[[#@LINE+1]] in main variable=numbers type=int
  int *numbers = malloc(40);
  keep(numbers);
  // CHECK: on_free heap free block size=0 | free at c-heap.c:[[#@LINE+1]] in main
  free(numbers);
  // CHECK: on_alloc heap alloc flags=0x10 block size=56 | calloc at c-heap.c:[[#@LINE+1]] in main variable=zeros type=double
  double *zeros = calloc(7, 8);
  keep(zeros);
  // CHECK: on_free heap realloc flags=0x4 block size=0 | realloc at c-heap.c:[[#@LINE+2]]
  // CHECK: on_alloc heap realloc flags=0x4 block size=80 | realloc at c-heap.c:[[#@LINE+1]] in main variable=zeros type=double
  zeros = realloc(zeros, 80);
  keep(zeros);
  // CHECK: on_free heap realloc flags=0x4 block size=0 | reallocarray
  // CHECK: on_alloc heap realloc flags=0x4 block size=48 | reallocarray
  zeros = reallocarray(zeros, 6, 8);
  keep(zeros);
  // CHECK: on_free heap free block size=0 | cfree
  cfree(zeros);
  // CHECK: on_alloc heap alloc block size=128 | aligned_alloc {{.*}} variable=a
  void *a = aligned_alloc(64, 128);
  // CHECK: on_alloc heap alloc block size=129 | memalign {{.*}} variable=b
  void *b = memalign(64, 129);
  // CHECK: on_alloc heap alloc block size=130 | valloc {{.*}} variable=c
  void *c = valloc(130);
  // CHECK: on_alloc heap alloc block size=131 | pvalloc {{.*}} variable=d
  void *d = pvalloc(131);
  // CHECK: on_alloc_out heap alloc block size=132 status=0 | posix_memalign {{.*}} variable=e type=float
  float *e;
  posix_memalign((void **)&e, 64, 132);
  // With this invalid alignment, the call returns an error and allocates no block.
  // CHECK: on_alloc_out heap alloc null size=133 status=22 | posix_memalign {{.*}} variable=f
  void *f = 0;
  posix_memalign(&f, 3, 133);
  keep(a), keep(b), keep(c), keep(d), keep(e);
  free(a), free(b), free(c), free(d), free(e);
  puts("done");
  return 0;
}
// PLAIN: done
// PLAIN-NOT: {{.}}
