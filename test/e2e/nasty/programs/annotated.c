// An allocator with an annotation calls malloc. The program allocates by it ten times and frees all blocks.
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline, annotate("msleaks.alloc"))) void *get(size_t size) { return malloc(size); }
__attribute__((noinline, annotate("msleaks.free"))) void put(void *block) { free(block); }

int main(void) {
  for (int i = 0; i < 10; ++i) {
    volatile char *block = get(100);
    block[0] = 1;
    put((void *)block);
  }
  puts("done");
  return 0;
}
