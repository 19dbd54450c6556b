// Imitates a server that runs while msleaks reads its memory. Four threads wait in system calls, and one
// thread allocates all the time. The program executes the commands of its input.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int wake, ends[2];
static atomic_int interrupted, woken, turns;

// Hides a block from the optimiser, so that the compiler does not delete the allocation.
__attribute__((noinline)) static void *used(void *block) {
  __asm__ volatile("" : "+r"(block) : : "memory");
  return block;
}

static void count(int result) {
  if (result >= 0)
    atomic_fetch_add(&woken, 1);
  else if (errno == EINTR)
    atomic_fetch_add(&interrupted, 1);
}

static void *waits_for_events(void *argument) {
  struct epoll_event event = {.events = EPOLLIN | EPOLLEXCLUSIVE};
  int epoll = epoll_create1(0);
  epoll_ctl(epoll, EPOLL_CTL_ADD, wake, &event);
  count(epoll_wait(epoll, &event, 1, -1));
  return argument;
}
static void *waits_for_a_file(void *argument) {
  struct pollfd file = {.fd = wake, .events = POLLIN};
  count(poll(&file, 1, -1));
  return argument;
}
static void *waits_for_a_message(void *argument) {
  struct timeval never = {.tv_sec = 1000}; // only with a timeout, an interruption ends recv(2) with EINTR
  char byte;
  setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &never, sizeof never);
  count((int)recv(ends[0], &byte, 1, 0));
  return argument;
}
static void *waits_for_a_signal(void *argument) {
  struct timespec never = {.tv_sec = 1000};
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  count(sigtimedwait(&set, NULL, &never));
  return argument;
}

// Allocates blocks to which only a table points. The table moves again and again.
static void *allocates(void *argument) {
  void ***table = malloc(sizeof *table);
  *table = calloc(1, sizeof **table);
  for (size_t entries = 1;; entries = entries % 500 + 1) {
    *table = used(realloc(*table, entries * sizeof **table));
    (*table)[entries - 1] = used(malloc(64));
    if (entries == 500) {
      for (; entries > 1; --entries)
        free((*table)[entries - 1]);
      usleep(200); // limits the number of events, so that a report takes less time
    }
    atomic_fetch_add(&turns, 1);
  }
  return argument;
}

__attribute__((noinline)) static void lose(long count) {
  while (count-- > 0)
    used(malloc(1000)); // lost
}
__attribute__((noinline)) static void forget(void) {
  char stack[4096];
  memset(stack, 0, sizeof stack);
  used(stack);
}

int main(void) {
  void *(*const parts[])(void *) = {waits_for_events, waits_for_a_file, waits_for_a_message, waits_for_a_signal, allocates};
  char line[64];
  long number;
  sigset_t set;
  pthread_t thread[5];
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  wake = eventfd(0, 0);
  socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  for (int i = 0; i < 5; ++i)
    pthread_create(&thread[i], NULL, parts[i], NULL);
  setvbuf(stdout, NULL, _IOLBF, 0);
  while (fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "lose %ld", &number) == 1) {
      lose(number);
      forget();
      puts("ok");
    } else if (strncmp(line, "wake", 4) == 0) {
      uint64_t one = 1;
      if (write(wake, &one, sizeof one) != sizeof one || write(ends[1], "m", 1) != 1)
        return 1;
      kill(getpid(), SIGUSR1);
      for (int i = 0; i < 4; ++i)
        pthread_join(thread[i], NULL);
      printf("%d interrupted, %d woken\n", interrupted, woken);
    } else {
      int before = turns;
      while (turns == before) // waits until the loop of allocates() has repeated
        ;
      puts("ok");
    }
  }
  return 0;
}
