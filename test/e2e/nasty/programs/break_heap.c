// The program grows the program break by sbrk, between calls of malloc. malloc also uses the program break.
#define _DEFAULT_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
  for (int i = 0; i < 200; ++i) {
    char *own = sbrk(4096);
    char *volatile theirs = malloc(3000 + i * 100);
    memset(own, i, 4096);
    memset(theirs, i, malloc_usable_size(theirs));
    free(theirs);
    if (i % 50 == 0)
      malloc_trim(0);
  }
  mallopt(M_MMAP_THRESHOLD, 4096);
  for (int i = 0; i < 100; ++i) {
    char *volatile mapped = malloc(100000);
    mapped = realloc(mapped, 400000);
    free(mapped);
  }
  puts("done");
  return 0;
}
