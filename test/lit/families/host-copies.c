// Copies of at least 64 KiB of the program's own memory are recorded. At -O2, the compiler turns the loop into a memcpy.
// RUN: %build_c -O0 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_c -O2 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck --check-prefixes=CHECK,LOOP %s
#include "keep.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void copyInLoop(float *restrict to, const float *restrict from, size_t count) {
  for (size_t i = 0; i < count; ++i)
    to[i] = from[i];
}

int main(int argc, char **argv) {
  const size_t n = 100000 + (size_t)argc - 1;
  char *from = calloc(1, n), *to = malloc(n);
  from[7] = 42;
  keep(from);
  // CHECK: arm
  // CHECK-NOT: size=65535
  // CHECK-NOT: size=4096
  memcpy(to, from, n - 34465); // one byte less than 64 KiB
  memcpy(to, from, 4096);
  keep(to);
  // CHECK: on_copy heap copy{{.*}} size=65536 {{.*}} | memcpy at host-copies.c:[[#@LINE+1]] in main
  memcpy(to, from, n - 34464);
  keep(to);
  // CHECK: on_copy heap copy{{.*}} size=70000 {{.*}} | memmove at host-copies.c:[[#@LINE+1]] in main
  memmove(to + 1, to, n - 30000);
  keep(to);
  // CHECK: on_copy heap copy{{.*}} size=90000 {{.*}} | memcpy at host-copies.c:[[#@LINE+1]] in main
  memcpy(to, from, 90000);
  keep(to);
  // PLAIN: 42 42
  // LOOP: on_copy heap copy{{.*}} size=80000 {{.*}} | memcpy at host-copies.c:11 in copyInLoop < main:[[#@LINE+2]]
  printf("%d ", to[7]);
  copyInLoop((float *)to, (const float *)from, n / 5);
  printf("%d\n", to[7]);
  free(to);
  free(from);
}
