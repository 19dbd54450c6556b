// The trace in run/ is a recorded run of this program. grow.c leaks 4,000 bytes, and pool.c frees 400 bytes.
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
