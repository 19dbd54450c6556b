// A library with one function, called NAME. It allocates a block that nobody frees.
#include <stdlib.h>

void *NAME(size_t bytes) {
  char *block = malloc(bytes);
  if (block)
    block[0] = 1;
  return block;
}
