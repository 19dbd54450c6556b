// Allocates 1 GiB, which it never touches and never frees. With an argument, prints it and ends when stdin has input.
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
