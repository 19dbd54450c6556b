// Calls malloc and free. The argument selects how the process ends: by abort, SIGKILL, _Exit or a return from main.
#include <signal.h>
#include <stdlib.h>
#include <string.h>

void *volatile block;

int main(int count, char **arguments) {
  const char *end = count > 1 ? arguments[1] : "";
  block = malloc(100);
  free(block);
  if (strcmp(end, "abort") == 0)
    abort();
  if (strcmp(end, "kill") == 0)
    raise(SIGKILL);
  if (strcmp(end, "quick") == 0)
    _Exit(7);
  return 0;
}
