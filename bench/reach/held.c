// Ends with so many blocks of so many bytes alive, all held by one list and full of what is no pointer. The time from the
// last line of main to the end of the process is whose it is that looks through them.   held BLOCKS BYTES
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
