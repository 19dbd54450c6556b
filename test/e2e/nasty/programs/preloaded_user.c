// The test preloads the library preloaded.c into this program.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  for (int i = 0; i < 100; ++i) {
    char *volatile block = malloc(777);
    block[0] = 'f';
    free(block);
  }
  puts("done");
  return 0;
}
