// The program executes itself again with an empty environment, so the new image cannot find the session of msleaks.
#include "touch.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **words) {
  touch(count);
  if (count == 1) {
    char *again[] = {words[0], "x", NULL}, *none[] = {NULL};
    execve("/proc/self/exe", again, none);
  }
  for (int i = 0; i < 100; ++i)
    touch(i);
  printf("%d\n", getenv("PATH") == NULL);
  return 0;
}
