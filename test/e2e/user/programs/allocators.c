// Allocates and frees one block by each allocator. With an argument, also leaks a second block of each allocator.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static _Alignas(16) char memory[1 << 16];
static size_t used;
static void *take(size_t size) { return memory + (used += (size + 15) & ~(size_t)15) - ((size + 15) & ~(size_t)15); }

// Rows of allocators.rows describe these allocators.
void *my_alloc(size_t size, size_t count) { return take(size * count); }
void my_free(void *block) { (void)block; }
int my_get(void **block, size_t size) { return *block = take(size), 0; }
void my_put(int device, void *block, size_t size) { (void)device, (void)block, (void)size; }
void *my_text(size_t size) { return malloc(size); }

// Annotations describe these allocators.
__attribute__((annotate("msleaks.alloc"))) void *poolGet(size_t size) { return take(size); }
__attribute__((annotate("msleaks.free"))) void poolPut(void *block) { (void)block; }
__attribute__((annotate("msleaks.alloc:heap=device"))) void *cardGet(size_t size) { return take(size); }
__attribute__((annotate("msleaks.free:heap=device"))) void cardPut(void *block) { (void)block; }

// Only a compiler attribute describes these functions. xmalloc's leak must have its variable. xpool's block is no leak.
__attribute__((alloc_size(1), noinline)) void *xmalloc(size_t size) { return malloc(size); }
__attribute__((alloc_size(1), noinline)) void *xpool(size_t size) { return take(size); }

int main(int count, char **arguments) {
  (void)arguments;
  for (int i = 0; i < count; ++i) {
    double *row = my_alloc(8, 10);
    float *card = NULL;
    my_get((void **)&card, 64);
    char *text = my_text(33);
    short *pool = poolGet(24);
    int *other = cardGet(48);
    long *named = xmalloc(17);
    long *part = xpool(99);
    printf("%d\n", row && card && text && pool && other && named && part);
    if (i > 0)
      break;
    my_free(row);
    my_put(0, card, 64);
    free(text);
    poolPut(pool);
    cardPut(other);
    free(named);
  }
  return 0;
}
