#include <stdlib.h>

struct cache {
  float *rows;
};

void fill(struct cache *cache) { cache->rows = malloc(1000 * sizeof(float)); }
