// Changes its root directory (c) or user (u), or limits its descriptors (n). Then forks a child that allocates a
// thousand times and exits with 3. After c or n the child cannot open the session's files, so msleaks cannot record it.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void giveUp(char what) {
  const struct rlimit few = {3, 3};
  int refused = chdir("/");
  if (what == 'c')
    refused = chroot("/var");
  else if (what == 'u')
    refused = setgid(65534) || setuid(65534);
  else
    refused = setrlimit(RLIMIT_NOFILE, &few);
  if (refused)
    exit(99);
}

int main(int count, char **arguments) {
  (void)count;
  void *volatile first = malloc(100); // joins the session before the change
  free(first);
  giveUp(arguments[1][0]);
  if (fork() == 0) {
    for (int i = 0; i < 1000; ++i) {
      volatile char *block = malloc((size_t)i + 1);
      block[0] = 1;
    }
    _exit(3);
  }
  int status = 0;
  wait(&status);
  printf("%d\n", WEXITSTATUS(status));
  return 0;
}
