// Sets marks, and ends by _exit. With "threads", four threads set marks, and main returns. Comments mark lines.
#include <msleaks/api.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *kept;

__attribute__((noinline)) static void *used(void *block) {
  __asm__ volatile("" : "+r"(block) : : "memory");
  return block;
}
__attribute__((noinline)) static void allocate(void) {
  used(malloc(301)); // lost before the mark
  kept = used(malloc(302)); // held at the mark
  used(&kept);
}
__attribute__((noinline)) static void forget(void) {
  char stack[4096];
  memset(stack, 0, sizeof stack);
  used(stack);
}

static void *marks(void *argument) {
  for (int i = 0; i < 20; ++i)
    msl_mark("of a thread");
  return argument;
}

int main(int argc, char **argv) {
  pthread_t threads[4];
  (void)argv;
  if (argc > 1) {
    for (int i = 0; i < 4; ++i)
      pthread_create(&threads[i], NULL, marks, NULL);
    for (int i = 0; i < 4; ++i)
      pthread_join(threads[i], NULL);
  }
  allocate();
  forget();
  msl_mark("here");
  used(malloc(303)); // behind the mark
  if (argc > 1)
    return 0;
  _exit(0);
}
