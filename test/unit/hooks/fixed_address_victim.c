// A program that is linked at a fixed address. It reads malloc's address from a volatile variable, so the linker makes
// a stub for malloc.
#include <stdlib.h>

int main(void) {
  void *(*volatile allocate)(size_t) = malloc;
  void (*volatile release)(void *) = free;
  release(allocate(919));
  return 5;
}
