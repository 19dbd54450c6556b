// Part of the archive that the foundation's plugin instrumented (object ABI 1). The file stays as it is; what is committed
// beside it was made from it then.
#include <stdlib.h>

float *pool_weights(size_t count) {
  float *weights = malloc(count * sizeof(float));
  for (size_t i = 0; weights && i < count; ++i)
    weights[i] = 1;
  return weights;
}

void pool_release(float *weights) { free(weights); }
