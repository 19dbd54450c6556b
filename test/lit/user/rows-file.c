// A rows file describes allocators in code that cannot be annotated.
// RUN: split-file %s %t
// RUN: env MSLEAKS_PASS=rows=%t/my.rows %clang -g -O0 %t/program.c -o %t/program && env LD_PRELOAD=%{log_runtime} %t/program 2>&1 | FileCheck %s
// RUN: env MSLEAKS_PASS=rows=%t/my.rows %clang -g -O2 %t/program.c -o %t/program && env LD_PRELOAD=%{log_runtime} %t/program 2>&1 | FileCheck %s
// Without the rows file the allocators are unknown.
// RUN: %clang -g -O0 %t/program.c -o %t/program && env LD_PRELOAD=%{log_runtime} %t/program 2>&1 | FileCheck --check-prefix=WITHOUT --implicit-check-not='user alloc' %s
// opt accepts the same option in the name of the pass.
// RUN: %clang -g -O0 -S -emit-llvm -fno-discard-value-names -Xclang -disable-llvm-passes %t/program.c -o %t/program.ll
// RUN: %opt -passes='mem-pass<rows=%t/my.rows>' -S %t/program.ll | FileCheck --check-prefix=OPT %s

// CHECK: on_alloc user alloc block size=80 | my_alloc at program.c:{{[0-9]+}} in main variable=values type=double
// CHECK: on_alloc user alloc block size=7 | my_static at
// CHECK: on_free user realloc flags=0x4 block size=0 | my_grow at
// CHECK: on_alloc user realloc flags=0x4 block size=160 | my_grow at
// CHECK: on_retain user retain block | my_share at
// CHECK: on_free user free block size=0 | my_free at
// CHECK: on_alloc_out user alloc block size=9 status=0 | my_out at
// CHECK: on_free user free block size=9 | my_sized_free at
// WITHOUT: malloc
// OPT: call ptr @__msl_gate.my_alloc(i64 noundef 8, i64 noundef 10, i32 {{[0-9]+}})

//--- my.rows
# Allocators of the test.
alloc   my_alloc      result=return size=0 count=1 free=my_free
alloc   my_static     size=1 free=my_free   # result=return is the default
realloc my_grow       address=0 size=1 free=my_free

retain  my_share      address=0
free    my_free       address=0
alloc   my_out        result=out(0) size=-1 free=my_sized_free heap=device
free    my_sized_free address=1 size=2
//--- program.c
#include "keep.h"
#include <stdlib.h>

void *my_alloc(size_t size, size_t count) { return malloc(size * count); }
static void *my_static(const char *name, size_t size) { return malloc(name ? size : 0); }
void *my_grow(void *block, size_t size) { return realloc(block, size); }
void my_share(void *block) { keep(block); }
void my_free(void *block) { free(block); }
int my_out(void **block, int device, size_t size) { return *block = malloc(size), 0; }
void my_sized_free(int device, void *block, size_t size) { free(block); }

int main(void) {
  double *values = my_alloc(8, 10);
  keep(values);
  void *other = my_static("name", 7);
  keep(other);
  values = my_grow(values, 160);
  my_share(values);
  my_free(values);
  void *out;
  my_out(&out, 0, 9);
  my_sized_free(0, out, 9);
  return 0;
}
