/* Imitates a training with a pool of two segments. Each step takes activations from both segments. With "pinned", one
 * part stays in the second segment after the steps. Without "pinned", this part stays in the first segment, which has
 * the weights, and the program frees the second segment. Then the program needs a large block. */
#include <msleaks/api.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMiB = 1 << 20, kSegment = 32 * kMiB };

struct Segment {
  char *memory;
  size_t used;
};
static struct Segment first, second;

__attribute__((annotate("msleaks.alloc"))) void *poolGet(size_t size, struct Segment *of) {
  return of->memory + (of->used += size) - size;
}
__attribute__((annotate("msleaks.free"))) void poolPut(void *part) { (void)part; }

static struct Segment segmentOf(size_t bytes) {
  struct Segment segment = {malloc(bytes), 0};
  return segment;
}

int main(int count, char **arguments) {
  const int pinned = count > 1 && strcmp(arguments[1], "pinned") == 0;
  char *batch = NULL, *rest = NULL, *kept = NULL;
  msl_owner_push("net@weights");
  first = segmentOf(kSegment);
  second = segmentOf(kSegment);
  char *weights = poolGet(20 * kMiB, &first);
  msl_owner_pop();
  for (uint64_t number = 1; number <= 4; ++number) {
    msl_step(number);
    msl_owner_push("net@activations");
    batch = poolGet(8 * kMiB, &first);
    rest = poolGet(24 * kMiB, &second);
    msl_owner_pop();
    poolPut(batch);
    poolPut(rest);
    first.used -= 8 * kMiB;
    second.used -= 24 * kMiB;
  }
  rest = poolGet(24 * kMiB, &second);
  kept = poolGet(kMiB, pinned ? &second : &first);
  poolPut(rest);
  if (!pinned)
    free(second.memory);
  msl_owner_push("net@result@table");
  char *result = malloc(64 * kMiB);
  msl_owner_pop();
  printf("%d\n", weights != NULL && batch != NULL && result != NULL);
  free(result);
  poolPut(kept);
  poolPut(weights);
  if (pinned)
    free(second.memory);
  free(first.memory);
  return 0;
}
