// The program becomes a daemon by two forks and setsid, and closes its descriptors. The grandchild
// allocates, and creates FILE when it has finished.    usage: daemon FILE
#define _GNU_SOURCE
#include "touch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **words) {
  touch(10);
  if (count < 2)
    return 2;
  int gate[2];
  if (pipe(gate) != 0)
    return 3;
  if (fork() == 0) {
    setsid();
    if (fork() != 0)
      _exit(0);
    closefrom(gate[1] + 1);
    for (int file = 0; file < 3; ++file)
      close(file);
    umask(0);
    for (int i = 0; i < 1000; ++i)
      touch(i + 1);
    int file = open(words[1], O_CREAT | O_WRONLY | O_TRUNC, 0600);
    dprintf(file, "done");
    close(file);
    _exit(0);
  }
  close(gate[1]);
  wait(NULL);
  char byte;
  long seen = read(gate[0], &byte, 1); // returns 0 when the grandchild has ended
  printf("%ld\n", seen);
  return 0;
}
