// Allocates and frees blocks. The test builds this program with a sanitizer.
#include <stdio.h>
#include <stdlib.h>

void *volatile kept;
int main(void) {
  for (int i = 0; i < 10; ++i)
    free((void *)(kept = malloc(100)));
  puts("ran");
  return 0;
}
