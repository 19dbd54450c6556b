// The program closes descriptors, as daemons do, and opens files that get the same numbers. It writes to these
// files and allocates, also in new threads. msleaks must not write to a descriptor that the program opened.
#define _GNU_SOURCE
#include "touch.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *churn(void *unused) {
  for (int i = 0; i < 20000; ++i)
    touch(i % 500 + 1);
  return unused;
}

int main(void) {
  churn(NULL);
  int before = dup(1);
  dup2(before, 200);
  for (int file = 3; file < 100; ++file)
    close(file);
  int files[20];
  for (int i = 0; i < 20; ++i)
    files[i] = open("/tmp", O_TMPFILE | O_RDWR, 0600);
  for (int round = 0; round < 4; ++round) {
    pthread_t thread;
    pthread_create(&thread, NULL, churn, NULL);
    pthread_join(thread, NULL);
    for (int i = 0; i < 20; ++i)
      dprintf(files[i], "%d", i % 10);
  }
  int right = 0;
  for (int i = 0; i < 20; ++i) {
    char text[8] = {0}, wanted[8];
    memset(wanted, '0' + i % 10, 4);
    right += files[i] == 3 + i && pread(files[i], text, 7, 0) == 4 && memcmp(text, wanted, 4) == 0;
  }
  printf("%d\n", right);
  return 0;
}
