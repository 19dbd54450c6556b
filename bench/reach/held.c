// held BLOCKS BYTES: ends with BLOCKS live blocks of BYTES bytes, which form one list and contain no other pointers.
//
// bench/reach_cost.py measures the time from the printed line `end` to the end of the process. In this time msleaks or
// LeakSanitizer searches for pointers to the blocks.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Node {
  struct Node *next;
};

static struct Node *list;

int main(int argc, char **argv) {
  const long blocks = argc > 1 ? atol(argv[1]) : 0;
  const size_t bytes = argc > 2 ? strtoul(argv[2], NULL, 10) : sizeof(struct Node);
  for (long i = 0; i < blocks; ++i) {
    struct Node *node = malloc(bytes);
    memset(node, 1, bytes);
    node->next = list;
    list = node;
  }
  puts("end");
  fflush(stdout);
  return 0;
}
