// Defines touch(), which allocates a block and frees it. The pointer is volatile, so the compiler keeps both calls.
#pragma once
#include <stdlib.h>

static inline void touch(size_t size) {
  char *volatile block = (char *)malloc(size);
  free(block);
}
