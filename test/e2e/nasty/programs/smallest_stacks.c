// Runs threads on stacks of the smallest allowed size. The program allocates and frees these stacks itself.
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void *one(void *unused) {
  for (int i = 0; i < 100; ++i) {
    char *volatile block = malloc(i + 1);
    block = realloc(block, 2 * i + 1);
    free(block);
  }
  return unused;
}

int main(void) {
  size_t size = sysconf(_SC_THREAD_STACK_MIN);
  for (int i = 0; i < 50; ++i) {
    size_t rounded = (size + 4095) / 4096 * 4096;
    void *stack = i % 2 ? aligned_alloc(4096, rounded)
                        : mmap(NULL, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    pthread_attr_t own;
    pthread_attr_init(&own);
    pthread_t thread;
    if (pthread_attr_setstack(&own, stack, rounded) != 0 || pthread_create(&thread, &own, one, NULL) != 0)
      return 9;
    pthread_join(thread, NULL);
    pthread_attr_destroy(&own);
    if (i % 2)
      free(stack);
    else
      munmap(stack, rounded);
  }
  puts("done");
  return 0;
}
