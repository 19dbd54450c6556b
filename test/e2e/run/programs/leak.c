// leak [STATUS]: one block of ten bytes that nobody frees; none when it is told how to end.
#include <stdlib.h>

int main(int argc, char **argv) {
  if (argc > 1)
    return argv[1][0] - '0';
  void *volatile block = malloc(10);
  return block ? 0 : 1;
}
