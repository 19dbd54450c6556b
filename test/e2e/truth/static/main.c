// A statically linked program with a leak. Hooks cannot be preloaded, so msleaks records only instrumented code.
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static void *make(size_t size) { return malloc(size); }

int main(void) {
  void *volatile kept = make(777);
  void *volatile freed = malloc(888);
  free(freed);
  kept = NULL;
  printf("%d\n", kept == NULL);
  return 3;
}
