// The program defines malloc, calloc, realloc and free for the whole process. libc calls these functions, too, for
// example in strdup. Hooks see none of these calls. The plugin instruments only the calls in the program's own code.
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static _Alignas(16) char pool[1 << 22];
static size_t used;
volatile long freed;

__attribute__((noinline)) void *malloc(size_t size) {
  size_t *block = (size_t *)(pool + used);
  used += (size + 31) & ~(size_t)15;
  if (used > sizeof pool)
    return NULL;
  *block = size;
  return block + 2;
}
__attribute__((noinline)) void free(void *block) { freed += block != NULL; } // clang deletes calls of an empty free
__attribute__((noinline)) void *calloc(size_t count, size_t size) {
  void *block = malloc(count * size);
  return block ? memset(block, 0, count * size) : NULL;
}
__attribute__((noinline)) void *realloc(void *old, size_t size) {
  void *block = malloc(size);
  if (old && block)
    memcpy(block, old, size < ((size_t *)old)[-2] ? size : ((size_t *)old)[-2]);
  return block;
}

int main(void) {
  for (int i = 0; i < 100; ++i) {
    char *volatile text = strdup("a copy that libc asks us for");
    text = realloc(text, 100);
    char *volatile more = malloc(i + 1);
    more[0] = text[0];
    free(more);
    free(text);
  }
  FILE *file = fopen("/dev/null", "w");
  fprintf(file, "x");
  fclose(file);
  puts("done");
  return 0;
}
