// Allocates large blocks. One stays untouched, two are filled immediately, one is half filled, two are filled late.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMiB = 1 << 20 };
char *volatile kept[8];
char *volatile late;

int main(void) {
  kept[0] = calloc(8, kMiB); // never touched
  kept[1] = malloc(8 * kMiB);
  memset(kept[1], 1, 8 * kMiB);
  kept[2] = malloc(16 * kMiB); // half of it
  memset(kept[2], 2, 8 * kMiB);
  kept[3] = malloc(8 * kMiB); // waits
  late = malloc(8 * kMiB);    // filled late
  kept[4] = malloc(8 * kMiB); // freed before `kept[3]` and `late` are filled
  memset(kept[4], 4, 8 * kMiB);
  usleep(300 * 1000);
  free(kept[4]);
  memset(kept[3], 3, 8 * kMiB);
  kept[5] = malloc(100 * 1000); // the program touches only the first page, which also contains malloc's own bytes
  kept[5][0] = 5;
  usleep(900 * 1000);
  memset(late, 6, 8 * kMiB);
  free(late);
  for (int i = 0; i < 4; ++i)
    free(kept[i]);
  free(kept[5]);
  return 0;
}
