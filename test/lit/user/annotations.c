// The user annotates allocators in C, where names are not mangled. poolGet returns null if the size is too large. poolPut accepts null.
// RUN: %build_c -O0 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_c -O2 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
#include "keep.h"
#include <stddef.h>
#include <stdio.h>

__attribute__((annotate("msleaks.alloc"))) void *poolGet(size_t size);
__attribute__((annotate("msleaks.free"))) void poolPut(void *block);

static char memory[64];
void *poolGet(size_t size) { return size <= sizeof memory ? memory : 0; }
void poolPut(void *block) { keep(block); }

int main(void) {
  // CHECK: on_alloc user alloc block size=24 | poolGet at annotations.c:[[#@LINE+1]] in main variable=values type=float
  float *values = poolGet(24);
  keep(values);
  // CHECK-NEXT: on_free user free block size=0 | poolPut at
  poolPut(values);
  // CHECK: on_alloc user alloc null size=65 | poolGet at {{.*}} variable=values
  values = poolGet(65);
  // CHECK-NEXT: on_free user free null size=0 | poolPut at
  poolPut(values);
  puts("done");
}
// PLAIN: done
// PLAIN-NOT: {{.}}
