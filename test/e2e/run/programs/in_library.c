// A library with one function, NAME, that allocates and forgets.
#include <stdlib.h>

void *NAME(size_t bytes) {
  char *block = malloc(bytes);
  if (block)
    block[0] = 1;
  return block;
}
