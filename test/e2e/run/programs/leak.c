// leak [STATUS]: never frees a block of ten bytes. With a STATUS there is no leak.
#include <stdlib.h>

int main(int argc, char **argv) {
  if (argc > 1)
    return argv[1][0] - '0';
  void *volatile block = malloc(10);
  return block ? 0 : 1;
}
