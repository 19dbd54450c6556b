// Usage: leak [STATUS]. Leaks a block of ten bytes. With STATUS it leaks nothing and exits with this status.
#include <stdlib.h>

int main(int argc, char **argv) {
  if (argc > 1)
    return argv[1][0] - '0';
  void *volatile block = malloc(10);
  return block ? 0 : 1;
}
