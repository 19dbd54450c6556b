// Usage: family MODE N. fork: forks N children. exec: runs N images, one after another. threads: starts N short
// threads, four at a time. leave: ends while one child runs for N ms more.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kPairs = 100 };

static void *work(void *unused) {
  for (int i = 0; i < kPairs; ++i) {
    void *volatile block = malloc(100 + (size_t)i);
    free(block);
  }
  return unused;
}

// Forks N children at the same time, without exec.
static int runChildren(int count) {
  work(NULL); // gives the parent a ring buffer, to which a child must not write
  for (int i = 0; i < count; ++i)
    if (fork() == 0) {
      work(NULL);
      _exit(i % 100);
    }
  int sum = 0;
  for (int status; wait(&status) > 0;)
    sum += WEXITSTATUS(status);
  work(NULL);
  printf("%d\n", sum);
  return 0;
}

// Executes the program N times, one image after another, in one process.
static int runImages(char **argv, int count) {
  work(NULL);
  if (count <= 1)
    return 5;
  char number[16];
  snprintf(number, sizeof number, "%d", count - 1);
  argv[2] = number;
  execv("/proc/self/exe", argv);
  return 1;
}

static int runThreads(int count) {
  enum { kAtOnce = 4 };
  for (int done = 0; done < count; done += kAtOnce) {
    pthread_t threads[kAtOnce];
    for (int i = 0; i < kAtOnce; ++i)
      pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < kAtOnce; ++i)
      pthread_join(threads[i], NULL);
  }
  return 0;
}

// Ends the program while its child runs for N ms more.
static int leaveChild(int ms) {
  work(NULL);
  if (fork() != 0) {
    usleep(50 * 1000); // gives the child time to begin
    return 0;
  }
  for (int i = 0; i < ms; ++i) {
    work(NULL);
    usleep(1000);
  }
  _exit(0);
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  const int number = atoi(argv[2]);
  if (!strcmp(argv[1], "fork"))
    return runChildren(number);
  if (!strcmp(argv[1], "exec"))
    return runImages(argv, number);
  if (!strcmp(argv[1], "threads"))
    return runThreads(number);
  if (!strcmp(argv[1], "leave"))
    return leaveChild(number);
  return 2;
}
