// An operator writes into a watched block while other code uses the same page. Threads wait in system calls that began
// before the watch. Other system calls get pointers into the page. Signal handlers run on a stack in the page. The
// program has its own SIGSEGV handler, and children. All numbers that it prints are the same in each run.
#include <msleaks/api.h>

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kBlock = 512, kRounds = 20, kText = 64, kStack = 1 << 15 };

static struct {
  char block[kBlock]; // the watched block
  char text[kText];   // buffer for a thread's read()
  volatile long counts[2];
  struct stat status;
  struct timespec time;
  struct epoll_event event;
  int waiting;
  char folder[128];
  char stack[kStack]; // alternate stack of signal handlers
} page __attribute__((aligned(4096)));

static int text_pipe[2], event_pipe[2];
static volatile int done = 0, handled = 0, interrupted = 0;
static volatile int waiting_threads = 0;
static char *closed, *volatile nowhere = (char *)8;
static sigjmp_buf back;

static void expect(int is_so, const char *what) {
  if (!is_so) {
    printf("%s: %s\n", what, strerror(errno));
    exit(1);
  }
}

__attribute__((noinline)) static void stray(char *to) {
  *to = (char)(*to + 1); // stray
}

static void *count(void *which) {
  do
    ++page.counts[(long)which];
  while (!done); // counts at least once, since on a busy machine this thread may begin after the last round
  return NULL;
}

static void *read_text(void *unused) {
  (void)unused;
  __atomic_add_fetch(&waiting_threads, 1, __ATOMIC_SEQ_CST);
  expect(read(text_pipe[0], page.text, kText) == kText, "read");
  return NULL;
}

static void *wait_for_event(void *unused) {
  (void)unused;
  const int queue = epoll_create1(0);
  struct epoll_event wanted = {.events = EPOLLIN, .data = {.u64 = 4711}};
  epoll_ctl(queue, EPOLL_CTL_ADD, event_pipe[0], &wanted);
  __atomic_add_fetch(&waiting_threads, 1, __ATOMIC_SEQ_CST);
  if (epoll_wait(queue, &page.event, 1, -1) != 1)
    interrupted = errno;
  close(queue);
  return NULL;
}

static void on_alarm(int signal, siginfo_t *info, void *context) {
  (void)context;
  char local[64];
  memset(local, signal, sizeof local);
  handled += info->si_code == SI_TKILL && local[63] == signal;
}

static void on_fault(int signal, siginfo_t *info, void *context) {
  (void)context;
  if ((char *)info->si_addr != closed + 8 || info->si_code != SEGV_ACCERR)
    _exit(signal);
  siglongjmp(back, 1);
}

static int faults(void) {
  if (sigsetjmp(back, 1) != 0)
    return 1;
  *(volatile char *)(closed + 8) = 1;
  return 0;
}

static void call_with_the_page(void) {
  char bytes[16];
  int ends[2];
  struct iovec list[2] = {{page.folder, 4}, {page.folder + 64, 4}};
  expect(pipe(ends) == 0 && write(ends[1], "12345678", 8) == 8, "pipe");
  expect(ioctl(ends[0], FIONREAD, &page.waiting) == 0 && page.waiting == 8, "ioctl");
  expect(readv(ends[0], list, 2) == 8 && memcmp(page.folder + 64, "5678", 4) == 0, "readv");
  expect(fstat(ends[0], &page.status) == 0 && S_ISFIFO(page.status.st_mode), "fstat");
  expect(clock_gettime(CLOCK_MONOTONIC, &page.time) == 0 && page.time.tv_sec != 0, "clock_gettime");
  expect(getcwd(page.folder, sizeof page.folder) != NULL, "getcwd");
  expect(write(ends[1], page.folder, 16) == 16, "write");
  expect(read(ends[0], nowhere, 1) == -1 && errno == EFAULT, "read to nowhere");
  expect(read(ends[0], bytes, 16) == 16 && memcmp(bytes, page.folder, 16) == 0, "read");
  close(ends[0]);
  close(ends[1]);
}

static void operate(int round) {
  msl_range_push("busy"); // tramples
  call_with_the_page();
  raise(SIGALRM);
  expect(faults(), "the program's own SIGSEGV");
  if (round % 5 == 0)
    expect(system("exit 7") == 7 << 8, "system");
  if (round % 5 == 1) {
    const pid_t child = fork();
    if (child == 0) {
      page.block[7] = 1;
      _exit(page.block[7] == 1 ? 5 : 6);
    }
    int status = 0;
    expect(waitpid(child, &status, 0) == child && status == 5 << 8, "fork");
  }
  stray(page.block + 40);
  msl_range_pop();
}

static void begin_to_wait(pthread_t *threads) {
  expect(pipe(text_pipe) == 0 && pipe(event_pipe) == 0, "pipe");
  pthread_create(&threads[0], NULL, read_text, NULL);
  pthread_create(&threads[1], NULL, wait_for_event, NULL);
  while (waiting_threads < 2)
    usleep(1000);
  usleep(20000); // gives both threads time to enter their system calls
}

static void end_waiting(const pthread_t *threads, const char *text) {
  expect(write(text_pipe[1], text, kText) == kText && write(event_pipe[1], "e", 1) == 1, "write");
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
}

// With `late`, the waiting threads stay in their system calls until the operator has finished.
int main(int arguments, char **argument) {
  const int is_late = arguments > 1 && strcmp(argument[1], "late") == 0;
  pthread_t threads[2], counters[2];
  const stack_t stack = {.ss_sp = page.stack, .ss_size = kStack};
  struct sigaction action = {.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
  char text[kText];
  memset(text, 't', kText);
  sigaltstack(&stack, NULL);
  sigaction(SIGALRM, &action, NULL);
  action.sa_sigaction = on_fault;
  sigaction(SIGSEGV, &action, NULL);
  closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  begin_to_wait(threads);
  msl_watch(page.block, kBlock, "block");
  if (!is_late)
    end_waiting(threads, text);
  for (long i = 0; i < 2; ++i)
    pthread_create(&counters[i], NULL, count, (void *)i);
  for (int round = 0; round < kRounds; ++round)
    operate(round);
  if (is_late)
    end_waiting(threads, text);
  done = 1;
  for (int i = 0; i < 2; ++i)
    pthread_join(counters[i], NULL);
  printf("block %d %d, text %d, event %d, interrupted %d, handled %d, counted %d\n", page.block[40], page.block[7],
         memcmp(page.text, text, kText), (int)page.event.data.u64, interrupted, handled,
         page.counts[0] > 0 && page.counts[1] > 0);
  return 3;
}
