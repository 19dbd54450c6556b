// Changes its user (u) or root directory (c), or limits its descriptors (n), file size (f) or address space (a).
// Then forks a child. After c, n or f, msleaks cannot record the child.    usage: without_rights u|c|n|f|a
#include "touch.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **words) {
  touch(100);
  char how = count > 1 ? words[1][0] : 0;
  struct rlimit three = {3, 3}, none = {0, 0}, little = {64 << 20, 64 << 20};
  int failed = chdir("/") != 0;
  switch (how) {
  case 'u':
    failed |= setgid(65534) != 0 || setuid(65534) != 0;
    break;
  case 'c':
    failed |= chroot("/var") != 0;
    break;
  case 'n':
    failed |= setrlimit(RLIMIT_NOFILE, &three) != 0;
    break;
  case 'f':
    failed |= setrlimit(RLIMIT_FSIZE, &none) != 0;
    break;
  case 'a':
    failed |= setrlimit(RLIMIT_AS, &little) != 0;
    break;
  default:
    failed = 1;
  }
  if (failed)
    return 99;
  if (fork() == 0) {
    for (int i = 0; i < 1000; ++i) {
      volatile char *block = malloc(i + 1);
      block[0] = 1;
      free((void *)block);
    }
    _exit(3);
  }
  int status;
  wait(&status);
  return WEXITSTATUS(status);
}
