// Reads a letter and a number from each line of stdin. `a N` allocates N bytes, `f N` frees a block of N bytes, and
// `b N` allocates and frees N blocks, and `s N` begins step N. Prints "ok" after each of these. `q 0` ends the program;
// `q` needs a number, too.
#include <stdio.h>
#include <stdlib.h>

#include "../../../../runtime/include/msleaks/api.h"

enum { kBlocks = 1000 };
static struct {
  long size;
  void *block;
} blocks[kBlocks];

static void allocate(long size) {
  for (int i = 0; i < kBlocks; ++i)
    if (blocks[i].block == NULL) {
      blocks[i].size = size;
      blocks[i].block = malloc((size_t)size);
      return;
    }
}

static void release(long size) {
  for (int i = 0; i < kBlocks; ++i)
    if (blocks[i].block != NULL && blocks[i].size == size) {
      free(blocks[i].block);
      blocks[i].block = NULL;
      return;
    }
}

static void both(long count) {
  for (long i = 0; i < count; ++i) {
    void *volatile block = malloc(32);
    free(block);
  }
}

int main(void) {
  static char input[4096], output[64];
  setvbuf(stdin, input, _IOFBF, sizeof input);
  setvbuf(stdout, output, _IOLBF, sizeof output);
  char what;
  long number;
  while (scanf(" %c %ld", &what, &number) == 2 && what != 'q') {
    if (what == 'a')
      allocate(number);
    else if (what == 'f')
      release(number);
    else if (what == 's')
      msl_step((uint64_t)number);
    else
      both(number);
    puts("ok");
  }
  return 7;
}
