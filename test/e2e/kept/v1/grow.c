// The second member of the archive: realloc, and a block that is never given back.
#include <stdlib.h>

static int *kept;

int grow_kept(size_t count) {
  int *grown = realloc(kept, count * sizeof(int));
  if (grown)
    kept = grown;
  return kept != 0;
}
