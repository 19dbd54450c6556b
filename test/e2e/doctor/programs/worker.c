// A library that asks malloc.
#include <stdlib.h>

void *volatile worked;

void work(void) {
  worked = malloc(100);
  free(worked);
}
