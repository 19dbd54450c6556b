// An operator writes past its own block, into a watched block, except with `mended`. The arguments select the
// instructions that write, and the place of the block: on the heap, in a global, or on the stack of main.
#include <msleaks/api.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kActivations = 1024, kWeights = 2048, kOffset = 96, kStray = 16, kSteps = 3 };

// Memory for the block of the activations, followed by the watched block of the weights.
static char global[kActivations + kWeights];
static char *activations, *weights;
static volatile int done = 0;
static volatile long ticks = 0;

__attribute__((noinline)) static void set_one(char *to, size_t at, int value) {
  to[at] = (char)value; // one
}

static void overrun(size_t count, int value) {
  for (size_t i = 0; i < count; ++i)
    set_one(activations, i, value); // for each
}

static void set_all(size_t count, int value) {
  memset(activations + 8, value, count - 8); // set
}

// Writes `count` bytes with one instruction.
static void repeat(size_t count, int value) {
  char *to = activations;
#if defined(__x86_64__)
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(value) : "memory"); // repeat
#else
  memset(to, value, count);
#endif
}

static void copy_all(size_t count, int value) {
  static char from[kActivations + kWeights];
  from[0] += (char)value;
  memset(from, from[0], sizeof from);
  memcpy(activations + 8, from, count - 8); // copy
}

static void fill_from(int file, char *to, size_t bytes) {
  if (read(file, to, bytes) != (ssize_t)bytes) // read
    abort();
}

// Reads `count` bytes from a pipe into `to`. Each of these bytes is `value`.
static void read_all(char *to, size_t count, int value) {
  char bytes[kActivations + kWeights];
  int ends[2];
  memset(bytes, value, count);
  if (pipe(ends) != 0 || write(ends[1], bytes, count) != (ssize_t)count)
    abort();
  fill_from(ends[0], to, count);
  close(ends[0]);
  close(ends[1]);
}

static void *help(void *value) {
  set_one(activations, kActivations + kOffset, (int)(long)value); // helper
  return NULL;
}

static void in_thread(size_t count, int value) {
  pthread_t thread;
  if (count > kActivations && pthread_create(&thread, NULL, help, (void *)(long)value) == 0)
    pthread_join(thread, NULL);
}

// Writes to the page of the watched block all the time, in another thread that runs no operator.
static void *tick(void *unused) {
  (void)unused;
  while (!done) {
    ++*(volatile long *)(activations + 64);
    ++ticks;
  }
  return NULL;
}

static void on_signal(int signal) { ticks += signal; }

static void fork_one(size_t count, int value) {
  const pid_t child = fork();
  if (child == 0) {
    msl_range_push("child");
    memset(weights, 1, kWeights);
    msl_range_pop();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  if (status != 0)
    abort();
  overrun(count, value);
}

static void relu(const char *how, int step, int is_mended) {
  const size_t count = step == 2 && !is_mended ? kActivations + kOffset + kStray : kActivations;
  msl_range_push("relu"); // tramples
  if (strcmp(how, "memset") == 0)
    set_all(count, step);
  else if (strcmp(how, "repeat") == 0)
    repeat(count, step);
  else if (strcmp(how, "memcpy") == 0)
    copy_all(count, step);
  else if (strcmp(how, "read") == 0)
    read_all(activations, count, step);
  else if (strcmp(how, "given") == 0)
    read_all(count > kActivations ? weights + kOffset : activations, kStray, step);
  else if (strcmp(how, "thread") == 0)
    in_thread(count, step);
  else if (strcmp(how, "fork") == 0)
    fork_one(count, step);
  else
    overrun(count, step);
  if (strcmp(how, "signal") == 0)
    raise(SIGUSR1);
  msl_range_pop();
}

// This operator is allowed to write into the weights. So the operator ends the watch before it writes.
static void sgd(void) {
  msl_range_push("sgd");
  msl_unwatch(weights);
  for (int i = 0; i < kWeights; ++i)
    weights[i] += 1;
  msl_watch(weights, kWeights, "weights");
  msl_range_pop();
}

static char *allocate(void) {
  return malloc(kWeights); // weights
}

int main(int count, char **arguments) {
  const char *how = count > 1 ? arguments[1] : "index", *where = count > 2 ? arguments[2] : "pool";
  const int is_mended = count > 3, is_own = strcmp(where, "own") == 0;
  char local[kActivations + kWeights];
  char *pool = strcmp(where, "stack") == 0 ? local : strcmp(where, "global") == 0 ? global : malloc(sizeof local);
  pthread_t thread;
  activations = pool;
  weights = is_own ? allocate() : pool + kActivations;
  if (is_own)
    activations = weights - kActivations;
  memset(pool, 0, sizeof local);
  memset(weights, 0, kWeights);
  signal(SIGUSR1, on_signal);
  if (!is_own)
    msl_watch(weights, kWeights, "weights");
  if (strcmp(how, "beside") == 0 && pthread_create(&thread, NULL, tick, NULL) != 0)
    return 1;
  for (int step = 1; step <= kSteps; ++step) {
    msl_step((uint64_t)step);
    relu(how, step, is_mended);
    if (!is_own)
      sgd();
  }
  done = 1;
  if (strcmp(how, "beside") == 0)
    pthread_join(thread, NULL);
  int sum = 0;
  for (int i = 0; i < kWeights; ++i)
    sum += weights[i];
  printf("%s %s: sum %d, handled %d\n", how, where, sum, strcmp(how, "signal") == 0 ? (int)ticks : 0);
  return 0;
}
