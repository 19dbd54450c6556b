// This unit has one allocation and no main.
#include "keep.h"
#include <stdlib.h>

void *one_block(size_t n) {
  void *block = malloc(n);
  keep(block);
  return block;
}
