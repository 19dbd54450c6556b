// A block that is taken and given back at once; the pointer is volatile, or the compiler would delete both calls.
#pragma once
#include <stdlib.h>

static inline void touch(size_t size) {
  char *volatile block = (char *)malloc(size);
  free(block);
}
