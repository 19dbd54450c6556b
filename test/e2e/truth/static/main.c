// A statically linked program. No library can be preloaded, so only instrumented code records.
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
