// Calls system and popen. Some commands write more than fits into a pipe, and one command dies of a signal.
#define _GNU_SOURCE
#include "touch.h"

#include <stdio.h>
#include <sys/wait.h>

int main(void) {
  touch(10);
  int sum = WEXITSTATUS(system("exit 7")) + WTERMSIG(system("kill -9 $$"));
  char *line = NULL;
  size_t room = 0;
  for (int i = 0; i < 5; ++i) {
    FILE *pipe = popen("seq 20000", "r");
    while (getline(&line, &room, pipe) > 0)
      sum += line[0] - '0';
    sum += pclose(pipe);
  }
  free(line);
  printf("%d\n", sum);
  return 0;
}
