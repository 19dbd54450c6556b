// Prints errno after calls that succeed or fail. msleaks must not change errno in these calls. In the
// first call of a thread, msleaks creates a ring buffer for the thread's events.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static void *tries(void *unused) {
  static __thread int seen[6];
  errno = 11;
  void *volatile block = malloc(10);
  seen[0] = errno;
  block = realloc(block, 5000);
  seen[1] = errno;
  free(block);
  seen[2] = errno;
  void *map = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(map, 4096);
  seen[3] = errno;
  map = mmap(NULL, 0, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  seen[4] = errno;
  errno = 12;
  int status = munmap((void *)1, 4096);
  seen[5] = errno;
  for (int i = 0; i < 6; ++i)
    printf("%d ", seen[i]);
  printf("%d %d\n", map == MAP_FAILED, status);
  return unused;
}

int main(void) {
  tries(NULL);
  for (int i = 0; i < 10; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, tries, NULL);
    pthread_join(thread, NULL);
  }
  return 0;
}
