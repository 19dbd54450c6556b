// Executes or starts this program again, as HOW selects. The second instance allocates blocks. "other": runs PROGRAM.
//
//   usage: leaves HOW [PROGRAM arguments...]
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void touch(void) {
  volatile char *block = malloc(100);
  block[0] = 1;
  free((void *)block);
}

int main(int count, char **words) {
  char *none[] = {NULL}, *again[] = {words[0], NULL};
  touch();
  if (count == 1) {
    for (int i = 0; i < 100; ++i)
      touch();
    return 7;
  }
  const char *how = words[1];
  int status = 0;
  pid_t child = 0;
  if (strcmp(how, "execve") == 0)
    execve(words[0], again, none);
  if (strcmp(how, "execle") == 0)
    execle(words[0], words[0], NULL, none);
  if (strcmp(how, "clearenv") == 0) {
    clearenv();
    execv(words[0], again);
  }
  if (strcmp(how, "kept") == 0)
    execlp(words[0], words[0], NULL);
  if (strcmp(how, "kept_v") == 0)
    execvp(words[0], again);
  if (strcmp(how, "failed") == 0) {
    execle("/nowhere", "/nowhere", NULL, none);
    child = vfork();
    if (child == 0) {
      execve("/nowhere", again, none);
      _exit(7);
    }
  }
  if (strcmp(how, "vfork") == 0) {
    child = vfork();
    if (child == 0) {
      execve(words[0], again, none);
      _exit(99);
    }
  }
  if (strcmp(how, "spawn") == 0 && posix_spawn(&child, words[0], NULL, NULL, again, none) != 0)
    return 98;
  if (strcmp(how, "spawn_kept") == 0 && posix_spawnp(&child, words[0], NULL, NULL, again, environ) != 0)
    return 97;
  if (strcmp(how, "other") == 0)
    execv(words[2], words + 2);
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}
