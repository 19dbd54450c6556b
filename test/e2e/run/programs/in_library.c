// A library with one function, whose name is NAME. The function allocates a block that nobody frees.
#include <stdlib.h>

void *NAME(size_t bytes) {
  char *block = malloc(bytes);
  if (block)
    block[0] = 1;
  return block;
}
