// Replaces blocks for sides.c. This file is compiled twice: with the plugin and without it. SIDE is the function's
// name.
#define _GNU_SOURCE
#include "replace.h"

void SIDE(int depth, void **live, size_t count, uint64_t *random, long pairs) {
  for (long i = 0; i < pairs; ++i) {
    const uint64_t bits = next(random);
    descend(depth, &live[bits % count], 16 + (bits >> 20) % 2000);
  }
}
