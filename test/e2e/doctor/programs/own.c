// Defines its own malloc and free with the symbol visibility VISIBILITY. The macro MAIN makes this library a program.
#include <stddef.h>

static char pool[1 << 16];
static size_t used;
void *volatile worked;

__attribute__((noinline, visibility(VISIBILITY))) void *malloc(size_t bytes) {
  void *block = pool + used;
  used += (bytes + 15) & ~(size_t)15;
  return used <= sizeof pool ? block : 0;
}
__attribute__((noinline, visibility(VISIBILITY))) void free(void *block) { (void)block; }

void work(void) {
  worked = malloc(100);
  free(worked);
}

#ifdef MAIN
int main(void) {
  work();
  return 0;
}
#endif
