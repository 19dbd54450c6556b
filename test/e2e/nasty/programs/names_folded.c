// Makes calls that the optimiser replaces. malloc and memset become calloc, realloc of NULL becomes malloc, and
// the calls of two branches become one call. The report must still have the variables and types of the blocks.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct layer {
  float *output;
};

__attribute__((noinline)) void zeroed(struct layer *layer, int count) {
  layer->output = malloc(count * 4);
  memset(layer->output, 0, count * 4);
}
__attribute__((noinline)) void tested(struct layer *layer, int count) {
  float *weights = malloc(count * sizeof *weights);
  if (weights)
    memset(weights, 0, count * sizeof *weights);
  layer->output = weights;
}
__attribute__((noinline)) void grown(struct layer *layer, int count) { layer->output = realloc(NULL, count * 4); }
__attribute__((noinline)) void either(struct layer *layer, int count, int which) {
  if (which)
    layer->output = malloc(count);
  else
    layer->output = malloc(count);
}

volatile int one = 1;

int main(void) {
  struct layer layer;
  zeroed(&layer, 10 * one);
  tested(&layer, 20 * one);
  grown(&layer, 30 * one);
  either(&layer, 17 * one, one);
  printf("%d\nleaked %d 4\n", one, 40 + 80 + 120 + 17);
  return 0;
}
