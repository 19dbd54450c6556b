// Allocates in signal handlers on the current stack and on an alternate stack, in nested handlers, and at any call
// depth. A timer's handler interrupts code that does not allocate, at any instruction.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum { kRounds = 1000 };
static unsigned state = 1;
static unsigned random_number(unsigned below) { return (state = state * 1664525 + 1013904223) / 65536 % below; }
static volatile unsigned by_timer;
static volatile double sum;

static __attribute__((noinline)) void allocate(unsigned depth) {
  volatile char filler[48];
  filler[0] = 1;
  if (depth > 0)
    allocate(depth - 1);
  free(calloc(1, 10 + depth));
  filler[1] = 1;
}

static void on_signal(int number) {
  free(malloc(100));
  if (number == SIGUSR1)
    raise(SIGUSR2);
  allocate(number == SIGUSR1 ? 3 : 1);
}

static void on_fault(int number, siginfo_t *info, void *context) {
  (void)number, (void)info, (void)context;
  free(malloc(200));
  allocate(2);
}

// The timer interrupts these functions at any instruction, even in a prologue.
static __attribute__((noinline)) double leaf(double x) { return x * 0.5 + 1; }
static __attribute__((noinline)) double inner(double x, unsigned depth) {
  return depth == 0 ? leaf(x) : leaf(inner(x, depth - 1));
}
static int compare(const void *left, const void *right) { return *(const int *)left - *(const int *)right; }
static __attribute__((noinline)) void compute(unsigned until) {
  while (by_timer < until) {
    char text[100], copy[100];
    int numbers[20];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now); // the timer can interrupt this call in the kernel's vDSO
    for (int i = 0; i < 20; ++i)
      numbers[i] = (int)(now.tv_nsec % (i + 7));
    qsort(numbers, 20, sizeof *numbers, compare);
    snprintf(text, sizeof text, "%f %d", sum, numbers[3]);
    memcpy(copy, text, sizeof copy);
    sum += inner(strtod(copy, NULL), 5) + (double)strlen(text);
  }
}

static void on_timer(int number) {
  (void)number;
  allocate(1);
  ++by_timer;
}

static __attribute__((noinline)) void raise_from(unsigned depth) {
  volatile char *filler = __builtin_alloca(16 + 16 * depth);
  filler[0] = 1;
  if (depth > 0)
    raise_from(depth - 1);
  else
    raise(random_number(2) ? SIGUSR1 : SIGUSR2);
  free(malloc(depth + 1));
  filler[1] = 1;
}

static void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  sigaction(number, &action, NULL);
}

int main(void) {
  char *memory = malloc(1 << 17);
  stack_t alternate = {.ss_sp = memory, .ss_size = 1 << 17}, off = {.ss_flags = SS_DISABLE};
  struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaction(SIGURG, &fault, NULL);
  sigaltstack(&alternate, NULL);
  for (int own_stack = 0; own_stack < 2; ++own_stack) {
    const int flags = own_stack ? SA_ONSTACK : 0;
    handle(SIGUSR1, on_signal, flags);
    handle(SIGUSR2, on_signal, flags);
    handle(SIGALRM, on_timer, flags | SA_RESTART);
    for (int i = 0; i < kRounds; ++i) {
      raise_from(random_number(8));
      if (i % 4 == 0)
        raise(SIGURG);
    }
    const struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    compute(by_timer + kRounds);
    setitimer(ITIMER_REAL, &never, NULL);
  }
  sigaltstack(&off, NULL);
  free(memory);
  puts("done");
  return 0;
}
