// A library that calls malloc.
#include <stdlib.h>

void *volatile worked;

void work(void) {
  worked = malloc(100);
  free(worked);
}
