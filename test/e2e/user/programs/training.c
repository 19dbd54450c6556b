/* Sets marks and ranges in the main thread, another thread, a signal handler, a library
 * that is opened later, and a forked child. The only argument is the library's path. */
#include <msleaks/api.h>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *load(void *argument) {
  char text[32];
  int i;
  for (i = 0; i < 2; ++i) {
    sprintf(text, "batch %d", i);
    msl_mark(text); /* sets marks with different texts at one line */
  }
  msl_owner_push("loader");
  free(malloc(1000));
  msl_owner_pop();
  return argument;
}

static void on_signal(int number) {
  (void)number;
  msl_mark("signal");
}

static void train(void) {
  uint64_t step;
  for (step = 1; step <= 2; ++step) {
    msl_step(step);
    msl_range_push("forward");
    msl_owner_push("net@conv1");
    free(malloc(100));
    msl_owner_pop();
    msl_range_pop();
  }
  msl_owner_pop(); /* must have no effect, since no owner is pushed */
  msl_range_pop();
}

static int run_child(void) {
  int status = 1;
  const pid_t child = fork();
  if (child == 0) {
    msl_mark("signal"); /* msleaks has already stored this text for the parent */
    msl_mark("child");
    _exit(0);
  }
  waitpid(child, &status, 0);
  return status;
}

int main(int argc, char **argv) {
  pthread_t loader;
  void *library;
  void (*say)(void);
  msl_mark("main");
  msl_mark(NULL);
  if (argc > 1) {
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return 2;
    *(void **)&say = dlsym(library, "library_says");
    say();
  }
  train();
  signal(SIGUSR1, on_signal);
  raise(SIGUSR1);
  pthread_create(&loader, NULL, load, NULL);
  pthread_join(loader, NULL);
  if (run_child() != 0)
    return 3;
  msl_mark("end");
  puts("trained 2 steps");
  return 0;
}
