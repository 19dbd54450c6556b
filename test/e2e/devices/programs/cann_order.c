// Frees a block. Before the driver's free function returns, another thread allocates a block at
// the same address. The program does this 20 times for each kind of memory.
#include "acl.h"

#include <pthread.h>
#include <stdio.h>

enum { kTimes = 20, kBytes = 4096, kAcl = 48 };

typedef int (*take_function)(void **);
typedef int (*give_function)(void *);

static int take_device(void **block) { return aclrtMalloc(block, kBytes, 0); }
static int take_pinned(void **block) { return aclrtMallocHost(block, kBytes); }
static int take_of_driver(void **block) {
  return halMemAlloc(block, kBytes, 1ull << 10 | (unsigned long long)kAcl << 56);
}

static take_function take;
static void *given, *taken;
static int failures;

static void *other_thread(void *unused) {
  (void)unused;
  failures += take(&taken) != 0;
  return NULL;
}

static void at_once(void) {
  pthread_t thread;
  standinBehindRelease(NULL);
  failures += pthread_create(&thread, NULL, other_thread, NULL) != 0;
  pthread_join(thread, NULL);
}

static void hand_over(take_function take_it, give_function give) {
  take = take_it;
  for (int i = 0; i < kTimes; ++i) {
    failures += take(&given) != 0;
    standinBehindRelease(at_once);
    failures += give(given) != 0;
    failures += given != taken;
    failures += give(taken) != 0;
  }
}

int main(void) {
  hand_over(take_device, aclrtFree);
  hand_over(take_pinned, aclrtFreeHost);
  hand_over(take_of_driver, halMemFree);
  printf("%d failures\n", failures);
  return failures != 0;
}
