// A test program that is linked at a fixed address, and uses the address of malloc. So the linker creates a stub for
// malloc in the program.
#include <stdlib.h>

int main(void) {
  void *(*volatile allocate)(size_t) = malloc;
  void (*volatile release)(void *) = free;
  release(allocate(919));
  return 5;
}
