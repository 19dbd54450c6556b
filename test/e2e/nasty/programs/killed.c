// Ends itself by the signal NUMBER while ten blocks are alive.    usage: killed NUMBER
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static void *kept[10];

int main(int count, char **words) {
  struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  for (int i = 0; i < 1000; ++i) {
    free(kept[i % 10]);
    kept[i % 10] = malloc(100);
  }
  int number = count > 1 ? atoi(words[1]) : 0;
  write(1, "now\n", 4);
  if (number == SIGABRT)
    abort();
  if (number == SIGSEGV)
    *(volatile int *)8 = 1;
  kill(getpid(), number);
  return 0;
}
