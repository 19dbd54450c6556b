// Ends a process that has several threads. Usage: threads leader|kill|exec [PROGRAM]. leader: the main thread
// ends before the other threads. kill: a signal ends the process. exec: a thread other than the main thread calls exec.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char **words;

static void *run(void *unused) {
  (void)unused;
  free(malloc(100));
  if (strcmp(words[1], "exec") == 0)
    execv(words[2], words + 2);
  if (strcmp(words[1], "leader") == 0)
    usleep(20000);
  else
    pause();
  return 0;
}

int main(int count, char **arguments) {
  if (count < 2)
    return 2;
  words = arguments;
  pthread_t thread;
  for (int i = 0; i < 8; ++i)
    pthread_create(&thread, 0, run, 0);
  if (strcmp(words[1], "leader") == 0)
    pthread_exit(0);
  usleep(10000);
  if (strcmp(words[1], "kill") == 0)
    kill(getpid(), SIGKILL);
  pause();
  return 0;
}
