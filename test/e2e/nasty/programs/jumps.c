// Leaves an annotated wrapper of malloc by longjmp: before and after the call of malloc, and in a signal handler. Also
// leaves a wrapper of free after the call of free. These calls of the wrappers never return.
#include "touch.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static sigjmp_buf out;
static int how;

static void handler(int signal) { siglongjmp(out, signal); }

__attribute__((noinline, annotate("msleaks.alloc"))) void *get(size_t size) {
  if (how == 1)
    siglongjmp(out, 1);
  if (how == 3)
    raise(SIGUSR1);
  void *volatile block = malloc(size);
  if (how == 2) {
    free(block);
    siglongjmp(out, 2);
  }
  return block;
}
__attribute__((noinline, annotate("msleaks.free"))) void put(void *block) {
  free(block);
  if (how == 4)
    siglongjmp(out, 4);
}

int main(void) {
  signal(SIGUSR1, handler);
  volatile int jumps = 0;
  for (volatile int i = 0; i < 100; ++i) {
    how = i % 5;
    if (sigsetjmp(out, 1) == 0) {
      void *volatile block = get(30);
      put(block);
    } else {
      ++jumps;
      touch(10); // msleaks must not attribute this allocation to the wrapper's call that longjmp ended
    }
  }
  how = 0;
  void *volatile lost = malloc(12);
  lost = get(13);
  printf("%d\nleaked 25 2\n", jumps);
  return 0;
}
