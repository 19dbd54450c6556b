// The program overwrites its arguments and environment, as setproctitle does.
// It also gives its threads names with bytes that are invalid in terminals and JSON.
#define _GNU_SOURCE
#include "touch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void *named(void *name) {
  prctl(PR_SET_NAME, name);
  touch(10);
  return NULL;
}

int main(int count, char **words) {
  touch(10);
  char *begin = words[0], *end = words[count - 1] + strlen(words[count - 1]);
  for (char **entry = environ; *entry; ++entry)
    if (*entry == end + 1)
      end += strlen(*entry) + 1;
  memset(begin, '\xff', end - begin);
  snprintf(begin, end - begin, "\"a title\"\n\x1b[31m\\");
  static char *names[] = {"\"quoted\"", "\xff\xfe", "\x1b[1m", "fifteen letters", "", "a\nb"};
  for (int i = 0; i < 6; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, named, names[i]);
    pthread_join(thread, NULL);
  }
  if (fork() == 0) {
    named("a child\"s");
    _exit(0);
  }
  wait(NULL);
  puts("done");
  return 0;
}
