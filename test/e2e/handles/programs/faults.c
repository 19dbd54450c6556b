// Opens handles in the situation that the argument names, such as a fork, a signal handler or a full table
// of descriptors. A comment `forgets` gives the kind and the number of the line's handles that stay open.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int null(void) { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

static void report(const char *what, int child) {
  int status = 0;
  waitpid(child, &status, 0);
  printf("%s: %d\n", what, status);
}

// Forks a child. The child inherits open descriptors, and itself opens further descriptors.
static void forks(void) {
  const int first = open("/dev/null", O_RDONLY);  // forgets descriptor 1
  const int second = open("/dev/null", O_RDONLY); // forgets descriptor 1
  fflush(stdout);
  const int child = fork();
  if (child == 0) {
    close(first);
    close(second);
    free(malloc(100));
    close(100);
    for (int i = 0; i < 3; ++i)
      open("/dev/zero", O_RDONLY); // forgets descriptor 3
    exit(0);
  }
  report("child of a fork", child);
  const int silent = fork();
  if (silent == 0) {
    close(first);
    _exit(0);
  }
  report("child that only closes", silent);
  printf("still open: %d\n", fcntl(first, F_GETFD) >= 0);
}

// Closes descriptors in a child of vfork. The child shares the parent's memory, but has descriptors of its own.
static void vforks(void) {
  const int first = open("/dev/null", O_RDONLY); // forgets descriptor 1
  fflush(stdout);
  const int child = vfork();
  if (child == 0) {
    for (int file = 3; file < 64; ++file)
      close(file);
    dup2(0, 70);
    dup2(0, 71);
    execl("/bin/true", "true", (char *)NULL);
    _exit(1);
  }
  report("child of a vfork", child);
  printf("still open: %d\n", fcntl(first, F_GETFD) >= 0);
}

// Opens descriptors before an exec. The report must have only the new program's descriptors.
static void execs(char *self) {
  for (int i = 0; i < 40; ++i)
    null();
  char *const arguments[] = {self, "second", NULL};
  fflush(stdout);
  execv(self, arguments);
}
static void second(void) {
  open("/dev/null", O_RDONLY); // forgets descriptor 1
}

enum { kThreads = 8, kRounds = 3000 };
static int handed[kThreads][kRounds];
static pthread_barrier_t all_have_opened;

// Opens descriptors, and closes the descriptors that another thread has opened, except one descriptor in 1000.
static void *pass_on(void *argument) {
  const long self = (long)argument;
  for (int i = 0; i < kRounds; ++i) {
    handed[self][i] = open("/dev/null", O_RDONLY); // forgets descriptor 24
    if (handed[self][i] < 0)
      exit(3);
    if (i % 100 == 99) {
      pthread_barrier_wait(&all_have_opened);
      for (int j = i - 99; j <= i; ++j)
        if (j % 1000 != 0)
          close(handed[(self + 1) % kThreads][j]);
      pthread_barrier_wait(&all_have_opened);
    }
    FILE *file = fopen("/dev/null", "r");
    fclose(file);
  }
  return NULL;
}
static void threads(void) {
  const struct rlimit most = {4096, 4096};
  setrlimit(RLIMIT_NOFILE, &most);
  pthread_t made[kThreads];
  pthread_barrier_init(&all_have_opened, NULL, kThreads);
  for (long i = 0; i < kThreads; ++i)
    pthread_create(&made[i], NULL, pass_on, (void *)i);
  for (int i = 0; i < kThreads; ++i)
    pthread_join(made[i], NULL);
}

static volatile sig_atomic_t signals;
static void on_alarm(int number) {
  (void)number;
  const int before = errno;
  const int file = open("/dev/null", O_RDONLY);
  const int other = dup(file);
  close(file);
  close(other);
  if (signals == 10)
    open("/dev/null", O_RDONLY); // forgets descriptor 1
  ++signals;
  errno = before;
}
static void *waits(void *argument) {
  int pair[2];
  char byte;
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair); // forgets descriptor 2
  (void)!read(pair[0], &byte, 1);
  return argument;
}
static void handlers(void) {
  signal(SIGALRM, on_alarm);
  const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  while (signals < 2000) {
    FILE *file = fopen("/dev/null", "r");
    if (file != NULL)
      fclose(file);
    close(open("/dev/null", O_RDONLY));
    free(malloc(50));
  }
  setitimer(ITIMER_REAL, &never, NULL);
  pthread_t thread;
  pthread_create(&thread, NULL, waits, NULL);
  usleep(20000);
  pthread_cancel(thread);
  void *answer = NULL;
  pthread_join(thread, &answer);
  printf("cancelled: %d\n", answer == PTHREAD_CANCELED);
}

// Blocks in pthread_join, which has a hook, until another thread cancels this thread.
static void *joins(void *other) {
  pthread_join(*(pthread_t *)other, NULL);
  return NULL;
}
static void *sleeps(void *argument) {
  usleep(100000);
  return argument;
}
static void cancels(void) {
  pthread_t sleeper, joiner;
  pthread_create(&sleeper, NULL, sleeps, NULL);
  pthread_create(&joiner, NULL, joins, &sleeper);
  usleep(20000);
  pthread_cancel(joiner);
  void *answer = NULL;
  pthread_join(joiner, &answer);
  printf("cancelled in a join: %d\n", answer == PTHREAD_CANCELED);
  pthread_join(sleeper, NULL);
  close(null());
}

static void many(void) {
  const struct rlimit most = {4096, 4096};
  setrlimit(RLIMIT_NOFILE, &most);
  int count = 0;
  for (int i = 0; i < 4050; ++i)
    count += open("/dev/null", O_RDONLY) >= 0; // forgets descriptor 4050
  while (open("/dev/null", O_RDONLY) >= 0)     // opens the last descriptors that the limit allows
    ++count;
  printf("%d, then %d\n", count, errno);
}

static void kills(void) {
  fflush(stdout);
  const int child = fork();
  if (child == 0) {
    free(malloc(10));
    open("/dev/null", O_RDONLY); // forgets descriptor 1
    usleep(20000);
    raise(SIGKILL);
  }
  report("killed child", child);
}

static void at_exit(void) {
  open("/dev/null", O_RDONLY); // forgets descriptor 1
  close(null());
}

int main(int argc, char **argv) {
  const char *topic = argc > 1 ? argv[1] : "";
  atexit(at_exit);
  if (strcmp(topic, "forks") == 0)
    forks();
  else if (strcmp(topic, "vforks") == 0)
    vforks();
  else if (strcmp(topic, "execs") == 0)
    execs(argv[0]);
  else if (strcmp(topic, "second") == 0)
    second();
  else if (strcmp(topic, "threads") == 0)
    threads();
  else if (strcmp(topic, "handlers") == 0)
    handlers();
  else if (strcmp(topic, "cancels") == 0)
    cancels();
  else if (strcmp(topic, "many") == 0)
    many();
  else if (strcmp(topic, "kills") == 0)
    kills();
  return 0;
}
