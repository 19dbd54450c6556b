// Holds 1 GiB until it ends, and never touches it. With an argument it ends when it is told to, by a line.
#include <stdio.h>
#include <stdlib.h>

static void *volatile kept;

int main(int count, char **words) {
  kept = malloc(1u << 30);
  if (count > 1) {
    puts(words[1]);
    fflush(stdout);
    getchar();
  }
  return kept == NULL;
}
