// A leak and a pair, in a program under a sanitizer.
#include <stdio.h>
#include <stdlib.h>

void *volatile kept;
int main(void) {
  for (int i = 0; i < 10; ++i)
    free((void *)(kept = malloc(100)));
  puts("ran");
  return 0;
}
