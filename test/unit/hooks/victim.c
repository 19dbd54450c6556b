// A small test program that is built without msleaks. Its output and exit status must be the same with and without
// msleaks.
//
//   usage: victim all|fail|threads|fork|exec|quiet|stack|"smallest stack"|backtrace|sandbox|sandbox-by-number
#define _GNU_SOURCE
#include <alloca.h>
#include <errno.h>
#include <execinfo.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static void *kept;

NOINLINE static void allOfTheHeap(void) {
  void *blocks[8];
  free(kept = malloc(101));
  char *zeroed = kept = calloc(3, 7);
  printf("%d ", zeroed[0] | zeroed[20]);
  void *grown = kept = realloc(zeroed, 203);
  grown = kept = reallocarray(grown, 5, 9);
  free(grown);
  blocks[0] = kept = aligned_alloc(64, 128);
  blocks[1] = kept = memalign(64, 131);
  printf("%d ", posix_memalign(&blocks[2], 64, 137));
  blocks[3] = kept = valloc(139);
  blocks[4] = kept = pvalloc(149);
  for (int i = 0; i < 5; ++i)
    free(blocks[i]);
  free(NULL);
  kept = realloc(NULL, 151);
  free(kept);
}

NOINLINE static void allMappings(void) {
  char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pages[0] = 1;
  pages = mremap(pages, 3 * 4096, 7 * 4096, MREMAP_MAYMOVE);
  printf("%d ", pages[0]);
  munmap(pages, 4096);
  munmap(pages + 4096, 6 * 4096);
  void *reserved = mmap64(NULL, 5 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  printf("%d ", mprotect(reserved, 2 * 4096, PROT_READ | PROT_WRITE));
  printf("%d ", mprotect(reserved, 4096, PROT_NONE));
  printf("%d ", mprotect((char *)reserved + 1, 4096, PROT_READ));
  munmap(reserved, 5 * 4096);
  printf("%d %d\n", munmap((void *)1, 4096), errno == EINVAL);
}

static void allThatFails(void) {
  void *block = malloc(211);
  errno = 0;
  printf("%d ", malloc(SIZE_MAX / 2) == NULL && errno == ENOMEM);
  errno = 0;
  printf("%d ", realloc(block, SIZE_MAX / 2) == NULL && errno == ENOMEM);
  errno = 0;
  volatile size_t count = SIZE_MAX / 2; // volatile hides the overflow from gcc, which would warn
  printf("%d ", calloc(count, 3) == NULL && errno == ENOMEM);
  errno = 7;
  void *aligned = NULL;
  printf("%d ", posix_memalign(&aligned, 3, 10));
  printf("%d ", errno);
  printf("%d ", posix_memalign(&aligned, 64, (size_t)1 << 62));
  printf("%d\n", errno);
  errno = 7;
  free(block);
  printf("%d\n", errno);
}

static void *manyPairs(void *argument) {
  for (int i = 0; i < 2000; ++i)
    free(malloc((size_t)(i % 1000 + 1)));
  return argument;
}

static int forkedPair(void) {
  free(kept = malloc(307));
  if (fork() == 0) {
    free(kept = malloc(311));
    _exit(0);
  }
  int status;
  wait(&status);
  free(kept = malloc(313));
  return status;
}

NOINLINE static void allocateOnStack(void) { free(kept = malloc(331)); }

static void allocateOnSmallStack(int signal) {
  (void)signal;
  allocateOnStack();
}

// The kernel stores the processor's registers on the signal stack. Their size depends on the processor. So this handler
// uses up the stack, except for the bytes that remain on a processor with 512-bit registers.
static void allocateOnSmallestStack(int signal) {
  enum { kLeft = 1280 };
  (void)signal;
  stack_t stack;
  sigaltstack(NULL, &stack);
  const long left = (char *)__builtin_frame_address(0) - (char *)stack.ss_sp;
  volatile char *const used = alloca(left > kLeft ? (size_t)(left - kLeft) : 1);
  used[0] = 0;
  allocateOnStack();
}

// Runs a signal handler on a stack that is `more` bytes larger than the smallest allowed signal stack, but at least
// 4 KiB large. The memory below this stack is not accessible.
static void *interruptedOnSmallStack(void *more) {
  const size_t least = (size_t)sysconf(_SC_MINSIGSTKSZ) + *(size_t *)more, pages = 1 << 20;
  const size_t bytes = least > 4096 ? least : 4096;
  if (*(size_t *)more < 4096)
    free(malloc(337)); // a thread's first call of the real malloc needs more stack
  char *hole = mmap(NULL, 2 * pages, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(hole + pages, pages, PROT_READ | PROT_WRITE);
  const stack_t stack = {.ss_sp = hole + pages, .ss_flags = 0, .ss_size = bytes};
  sigaltstack(&stack, NULL);
  const struct sigaction action = {
      .sa_handler = *(size_t *)more < 4096 ? allocateOnSmallestStack : allocateOnSmallStack, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  return NULL;
}

static int smallStack(size_t more) {
  pthread_t thread;
  pthread_create(&thread, NULL, interruptedOnSmallStack, &more);
  return pthread_join(thread, NULL) == 0 ? 6 : 1;
}

NOINLINE static void freeTwice(void) {
  void *volatile block = malloc(337);
  free(block);
  free(block);
  kept = block; // prevents a tail call of free
}

// A crash handler. It prints whether freeTwice(), which called free(), is on the stack.
static void printWhere(int signal) {
  (void)signal;
  void *frames[64];
  int seen = 0;
  for (int i = backtrace(frames, 64); i-- > 0;)
    seen |= (uintptr_t)frames[i] - (uintptr_t)freeTwice < 128;
  free(kept = malloc(347));
  printf("freeTwice seen: %d\n", seen);
  fflush(stdout);
  _exit(7);
}

static void abortInFree(void) {
  void *frames[4];
  backtrace(frames, 4); // loads the libraries that backtrace() needs
  signal(SIGABRT, printWhere);
  freeTwice();
}

#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

// Installs a filter that allows only write and exit_group: any other system call ends the process. So malloc can use
// only memory that it has already obtained from the kernel.
static void inSandbox(int by_number) {
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_write),
      ALLOW(SYS_exit_group),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  struct sock_fprog filter = {sizeof rules / sizeof rules[0], rules};
  free(kept = malloc(1 << 16));
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const long refused = by_number ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter)
                                 : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
  for (int i = 0; i < 20000; ++i)
    free(kept = malloc(64 + i % 128));
  if (refused || write(1, "sandboxed\n", 10) != 10)
    syscall(SYS_exit_group, 1);
  syscall(SYS_exit_group, 0);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "all") == 0) {
    allOfTheHeap();
    allMappings();
    return 3;
  }
  if (strcmp(what, "fail") == 0) {
    allThatFails();
    return 4;
  }
  if (strcmp(what, "threads") == 0) {
    pthread_t threads[8];
    for (int i = 0; i < 8; ++i)
      pthread_create(&threads[i], NULL, manyPairs, NULL);
    for (int i = 0; i < 8; ++i)
      pthread_join(threads[i], NULL);
    return 0;
  }
  if (strcmp(what, "fork") == 0)
    return forkedPair();
  if (strcmp(what, "stack") == 0)
    return smallStack(4096);
  if (strcmp(what, "smallest stack") == 0)
    return smallStack(512);
  if (strcmp(what, "backtrace") == 0)
    abortInFree();
  if (strcmp(what, "sandbox") == 0 || strcmp(what, "sandbox-by-number") == 0)
    inSandbox(strcmp(what, "sandbox") != 0);
  if (strcmp(what, "exec") == 0)
    return execl(argv[0], argv[0], "quiet", NULL);
  free(kept = malloc(317));
  return 5;
}
