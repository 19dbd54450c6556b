// Linked at a fixed address; malloc's address goes through a volatile, so its stub is needed.
#include <stdlib.h>

int main(void) {
  void *(*volatile allocate)(size_t) = malloc;
  void (*volatile release)(void *) = free;
  release(allocate(919));
  return 5;
}
