// The second member of the archive. Grows a block by realloc and never frees the block.
#include <stdlib.h>

static int *kept;

int grow_kept(size_t count) {
  int *grown = realloc(kept, count * sizeof(int));
  if (grown)
    kept = grown;
  return kept != 0;
}
