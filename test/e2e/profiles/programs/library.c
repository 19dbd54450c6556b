#include <stdint.h>

uint64_t in_library(uint64_t rounds) {
  uint64_t x = 1;
  for (uint64_t i = 0; i < rounds * 32; ++i)
    x = x * 6364136223846793005u + i;
  return x;
}
