// Makes the trace that is committed beside it: 4,000 bytes leaked by grow.c, 400 given back by pool.c.
#include <stddef.h>

float *pool_weights(size_t count);
void pool_release(float *weights);
int grow_kept(size_t count);

int main(void) {
  float *weights = pool_weights(100);
  int ok = grow_kept(10) && grow_kept(1000);
  pool_release(weights);
  return !ok;
}
