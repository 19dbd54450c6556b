// kind: overallocated
// saves: 12000000
// Modelled on MoarVM, pull request 1271, "Fix utf8-c8 memory usage". A decoder allocates four times the size of its
// input for the result, and keeps this size. The change shrinks the block to the size of the result.
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct string {
  unsigned char *graphs;
  size_t count;
};

__attribute__((noinline)) static void decode(struct string *string, const char *input, size_t size) {
  string->graphs = malloc(4 * size); // guilty
  string->count = 0;
  for (size_t i = 0; i < size; ++i)
    string->graphs[string->count++] = (unsigned char)(input[i] ^ 1);
#ifdef MENDED
  string->graphs = realloc(string->graphs, string->count);
#endif
}

__attribute__((noinline)) static void fill(char *block, size_t size, int with) {
  for (size_t i = 0; i < size; ++i)
    block[i] = (char)(with + i % 3);
}

int main(void) {
  static char input[4000000];
  struct string string;
  memset(input, 'x', sizeof input);
  decode(&string, input, sizeof input);
  char *more = malloc(14000000);
  fill(more, 14000000, string.graphs[5]);
  usleep(100000); // stands for further work of the program
  printf("%zu %c\n", string.count, more[13999999]);
  free(more);
  free(string.graphs);
}
