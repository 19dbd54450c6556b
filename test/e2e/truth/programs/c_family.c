// Allocates by malloc, calloc and realloc. Some blocks stay alive. Others are freed, grow, shrink or move.
#include <stdlib.h>
#include <string.h>

static void *volatile kept[8];

int main(void) {
  kept[0] = malloc(1000);
  kept[1] = calloc(30, 40);
  kept[2] = realloc(NULL, 500);

  char *grown = malloc(16);
  for (size_t size = 32; size <= 1 << 20; size *= 2) {
    grown = realloc(grown, size);
    memset(grown, 1, size);
  }
  kept[3] = realloc(grown, 300);

  for (int i = 0; i < 100; ++i)
    free(calloc(i + 1, 1000));

  char *moved = malloc(100);
  kept[4] = malloc(24); // follows the block `moved` in memory, so `moved` cannot grow in place
  moved = realloc(moved, 70000);
  free(moved);

  kept[5] = malloc(0);
  return 0;
}
