// Calls a driver that is slow for a known reason, some times, and prints how long each reason took: `CAUSE NS COUNT
// ADDRESS`.
//
//   causes CAUSE TIMES [launch]
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern void (*slow_part)(void);
int cudaMalloc(void **, size_t);
struct Extent {
  unsigned x, y, z;
};
int cudaLaunchKernel(const void *, struct Extent, struct Extent, void **, size_t, void *);

enum { kMillisecond = 1000000, kPages = 2048 };

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
static void rest(long ns) { nanosleep(&(struct timespec){0, ns}, 0); }

// With real-time priorities, no other program of the machine takes the processor meanwhile.
static int takePriority(int priority) {
  const struct sched_param wanted = {.sched_priority = priority};
  return sched_setscheduler(0, SCHED_FIFO, &wanted);
}
static void nothing(void) {}
static void (*prepare)(void) = nothing; // before a call of the driver

static uint64_t spent_ns, count, address; // the cause in one call of the driver

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int wanted, held, stop;

static void *holder(void *unused) {
  for (;;) {
    while (!atomic_load(&wanted)) {
      if (atomic_load(&stop))
        return unused;
      rest(kMillisecond / 10);
    }
    pthread_mutex_lock(&lock);
    atomic_store(&wanted, 0);
    atomic_store(&held, 1);
    rest(20 * kMillisecond);
    atomic_store(&held, 0);
    pthread_mutex_unlock(&lock);
  }
}
static void prepareLock(void) {
  atomic_store(&wanted, 1);
  while (!atomic_load(&held))
    rest(kMillisecond / 20);
}
static void waitForLock(void) {
  const uint64_t begin = now();
  pthread_mutex_lock(&lock);
  spent_ns = now() - begin;
  pthread_mutex_unlock(&lock);
}

static int pipe_ends[2];
static void *writer(void *unused) {
  for (;;) {
    while (!atomic_load(&wanted)) {
      if (atomic_load(&stop))
        return unused;
      rest(kMillisecond / 10);
    }
    atomic_store(&wanted, 0);
    rest(20 * kMillisecond);
    if (write(pipe_ends[1], "", 1) != 1)
      abort();
  }
}
static void waitForPipe(void) {
  char byte;
  atomic_store(&wanted, 1);
  const uint64_t begin = now();
  if (read(pipe_ends[0], &byte, 1) != 1)
    abort();
  spent_ns = now() - begin;
}

static void touchPages(void) {
  const size_t page = (size_t)getpagesize();
  char *pages = mmap(0, kPages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(pages, kPages * page, MADV_NOHUGEPAGE);
  const uint64_t begin = now();
  for (size_t i = 0; i < kPages; ++i)
    ((volatile char *)pages)[i * page] = 1;
  spent_ns = now() - begin;
  count = kPages;
  address = (uint64_t)pages;
  munmap(pages, kPages * page);
}

static void *neighbour(void *unused) {
  prctl(PR_SET_NAME, "neighbour");
  takePriority(2);
  atomic_store(&held, 1);
  while (!atomic_load(&stop)) {
    const uint64_t begin = now();
    while (now() - begin < 3 * kMillisecond)
      ;
    rest(3 * kMillisecond);
  }
  return unused;
}
// The time in the run queue, as the kernel counts it for this thread.
static uint64_t queued(void) {
  unsigned long long ran = 0, waited = 0;
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat", syscall(SYS_gettid));
  FILE *file = fopen(path, "r");
  if (file == 0 || fscanf(file, "%llu %llu", &ran, &waited) != 2)
    abort();
  fclose(file);
  return waited;
}
static void shareProcessor(void) {
  const uint64_t before = queued(), begin = now();
  while (now() - begin < 30 * kMillisecond)
    ;
  spent_ns = queued() - before;
}

static char *file_path;
static void readFile(void) {
  static char content[1 << 20];
  const int file = open(file_path, O_RDONLY);
  fdatasync(file);
  posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  const uint64_t begin = now();
  if (pread(file, content, sizeof content, 0) != sizeof content)
    abort();
  spent_ns = now() - begin;
  close(file);
}

int main(int argc, char **argv) {
  const char *cause = argv[1];
  const int is_launch = argc > 3 && strcmp(argv[3], "launch") == 0;
  file_path = argc > 3 ? argv[3] : 0;
  pthread_t other = 0;
  const int has_priority = takePriority(1) == 0; // the threads below inherit it
  if (strcmp(cause, "lock") == 0) {
    slow_part = waitForLock;
    prepare = prepareLock;
    pthread_create(&other, 0, holder, 0);
  } else if (strcmp(cause, "pipe") == 0) {
    slow_part = waitForPipe;
    if (pipe(pipe_ends) != 0)
      return 1;
    pthread_create(&other, 0, writer, 0);
  } else if (strcmp(cause, "pages") == 0) {
    slow_part = touchPages;
  } else if (strcmp(cause, "neighbour") == 0) {
    slow_part = shareProcessor;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one); // the thread below inherits it
    if (!has_priority)
      return 77;
    pthread_create(&other, 0, neighbour, 0);
    while (!atomic_load(&held))
      rest(kMillisecond);
  } else {
    slow_part = readFile;
  }
  for (int i = atoi(argv[2]); i > 0; --i) {
    void *block;
    prepare();
    if (is_launch)
      cudaLaunchKernel((void *)main, (struct Extent){1, 1, 1}, (struct Extent){1, 1, 1}, 0, 0, 0);
    else
      cudaMalloc(&block, 256);
    printf("%s %llu %llu %llu\n", cause, (unsigned long long)spent_ns, (unsigned long long)count, (unsigned long long)address);
  }
  atomic_store(&stop, 1);
  if (other != 0)
    pthread_join(other, 0);
  return 0;
}
