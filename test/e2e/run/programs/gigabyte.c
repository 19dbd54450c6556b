// Holds 1 GiB until it ends, and never touches it.
#include <stdlib.h>

static void *volatile kept;

int main(void) {
  kept = malloc(1u << 30);
  return kept == NULL;
}
