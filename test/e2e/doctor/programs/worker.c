// Defines a library whose function work() calls malloc and free.
#include <stdlib.h>

void *volatile worked;

void work(void) {
  worked = malloc(100);
  free(worked);
}
