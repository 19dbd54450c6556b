// Forty times, a child makes a pid namespace. The child's own child is process 1 of this namespace, and leaks a block.
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **words) {
  if (count > 1) {
    void *volatile lost = malloc(100);
    lost = NULL;
    return getpid();
  }
  int sum = 0, status;
  for (int i = 0; i < 40; ++i) {
    if (fork() == 0) {
      if (unshare(CLONE_NEWPID) != 0)
        _exit(99);
      if (fork() == 0)
        execl("/proc/self/exe", words[0], "x", (char *)NULL);
      wait(&status);
      _exit(WEXITSTATUS(status));
    }
    wait(&status);
    sum += WEXITSTATUS(status);
  }
  printf("%d\nleaked 4000 40\n", sum);
  return 0;
}
