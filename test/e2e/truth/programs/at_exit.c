// Frees and allocates after main: an atexit function and a destructor each free one block and allocate another one.
#include <stdlib.h>

static void *volatile before, *volatile after, *volatile last, *volatile kept;

static void release(void) {
  free(before);
  before = NULL;
  after = malloc(640);
}

__attribute__((destructor)) static void at_the_very_end(void) {
  free(last);
  last = NULL;
  kept = malloc(128);
}

int main(void) {
  before = malloc(100000);
  last = malloc(5000);
  if (atexit(release) != 0)
    return 1;
  exit(0);
}
