// Defines a malloc that grows the program break.
#include <stddef.h>
#include <unistd.h>

void *volatile worked;

void *malloc(size_t bytes) { return sbrk((ptrdiff_t)((bytes + 15) & ~(size_t)15)); }
void free(void *block) { (void)block; }

void work(void) {
  worked = malloc(100);
  free(worked);
}
