// Allocates aligned blocks by posix_memalign, aligned_alloc, memalign and valloc.
#include <malloc.h>
#include <stdlib.h>

static void *volatile kept[4];

int main(void) {
  void *block;
  if (posix_memalign(&block, 64, 1000) != 0)
    return 1;
  kept[0] = block;
  kept[1] = aligned_alloc(4096, 8192);
  kept[2] = memalign(32, 320);
  kept[3] = valloc(100);
  for (int i = 0; i < 100; ++i) {
    if (posix_memalign(&block, 128, 50000) != 0)
      return 1;
    free(block);
  }
  void *refused = NULL;
  if (posix_memalign(&refused, 3, 10) == 0) // must fail, since 3 is not a power of two
    return 1;
  return 0;
}
