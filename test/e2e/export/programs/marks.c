// Sets a mark with each of its arguments as name, and keeps a block.
#include <msleaks/api.h>
#include <stdlib.h>

int main(int count, char **arguments) {
  char *volatile kept = malloc(1000000);
  for (int i = 1; i < count; ++i)
    msl_mark(arguments[i]);
  return kept == NULL;
}
