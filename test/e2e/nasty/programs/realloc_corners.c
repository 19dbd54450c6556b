// Calls realloc with NULL, with the size 0, with a size that fails, and with an aligned block. Calls reallocarray
// with an overflow. If realloc fails, the block must stay alive, and errno must be as glibc sets it.
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

volatile size_t huge = (size_t)1 << 62;

int main(void) {
  char *volatile text = realloc(NULL, 10);
  strcpy(text, "kept");
  errno = 0;
  char *volatile refused = realloc(text, huge);
  printf("%p %d %s\n", (void *)refused, errno, text);
  errno = 0;
  refused = reallocarray(text, huge, 16);
  printf("%p %d %s\n", (void *)refused, errno, text);
  errno = 7;
  text = realloc(text, 100000);
  printf("%d %s\n", errno, text);
  char *volatile gone = realloc(malloc(8), 0);
  printf("%p\n", (void *)gone);
  char *volatile aligned = aligned_alloc(4096, 8192);
  aligned = realloc(aligned, 50000);
  aligned[0] = 1;
  free(aligned);
  char *volatile zero = realloc(NULL, 0);
  printf("%d\n", zero != NULL);
  free(zero);
  free(NULL);
  char *volatile leaked = realloc(text, 300);
  printf("%s %d\nleaked 300 1\n", leaked, errno);
  return 0;
}
