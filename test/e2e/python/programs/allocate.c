// Allocates for one to two seconds, without Python's global lock.
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

void allocate(void) {
  const time_t end = time(NULL) + 2;
  while (time(NULL) < end) {
    volatile char *block = malloc(100000);
    if (block != NULL)
      block[0] = 1;
    free((void *)block);
    usleep(20);
  }
}
