// Nested signal handlers allocate, free and map, on the current stack and on an alternate stack in the
// heap. The program raises the signals inside its annotated allocator, before and after the call of malloc.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static void *from_handler[64];
static volatile int count;

static void handler(int signal) {
  void *block = malloc(100);
  if (signal == SIGUSR1)
    raise(SIGUSR2);
  munmap(mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 8192);
  free(block);
  from_handler[count++] = malloc(16);
}

__attribute__((noinline, annotate("msleaks.alloc"))) void *get(size_t size) {
  raise(SIGUSR1);
  void *block = malloc(size);
  raise(SIGUSR2);
  return block;
}
__attribute__((noinline, annotate("msleaks.free"))) void put(void *block) {
  raise(SIGUSR2);
  free(block);
}

int main(void) {
  stack_t alternate = {.ss_sp = malloc(64 << 10), .ss_size = 64 << 10}, off = {.ss_flags = SS_DISABLE};
  for (int on_other = 0; on_other < 2; ++on_other) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = on_other ? SA_ONSTACK : 0};
    if (on_other)
      sigaltstack(&alternate, NULL);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    for (int i = 0; i < 5; ++i) {
      void *volatile block = get(50);
      put(block);
    }
  }
  sigaltstack(&off, NULL);
  free(alternate.ss_sp);
  int all = count;
  while (count > 0)
    free(from_handler[--count]);
  void *volatile lost = get(77);
  while (count > 0)
    free(from_handler[--count]);
  lost = NULL;
  printf("%d\nleaked 77 1\n", all);
  return 0;
}
