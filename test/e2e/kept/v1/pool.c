// The first member of the archive in this folder. The first version's plugin instrumented the archive (object ABI 1).
// The archive was built from this source, so do not change the code.
#include <stdlib.h>

float *pool_weights(size_t count) {
  float *weights = malloc(count * sizeof(float));
  for (size_t i = 0; weights && i < count; ++i)
    weights[i] = 1;
  return weights;
}

void pool_release(float *weights) { free(weights); }
