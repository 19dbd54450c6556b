// Allocates a block and frees it at once. The pointer is volatile, so the compiler cannot delete both calls.
#pragma once
#include <stdlib.h>

static inline void touch(size_t size) {
  char *volatile block = (char *)malloc(size);
  free(block);
}
