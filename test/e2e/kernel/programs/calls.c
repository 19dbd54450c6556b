// Makes known system calls in threads and processes, and prints how many of them each process and thread has made.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static long number(void) { return syscall(SYS_gettid); }

// The arguments that getppid() ignores are recorded.
static void make(int count) {
  const uint64_t begin = now();
  for (int i = 0; i < count; ++i)
    syscall(SYS_getppid, 11, 22, 33, 44, 55, (long)i);
  printf("made %d %ld %d %llu %llu\n", getpid(), number(), count, (unsigned long long)begin, (unsigned long long)now());
  fflush(stdout);
}

static void *thread(void *count) {
  make((int)(intptr_t)count);
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "loop") == 0) {
    for (int i = atoi(argv[2]); i > 0; --i)
      syscall(SYS_getppid);
    return 0;
  }
  if (argc > 1) { // the image after exec
    make(70);
    return 7;
  }
  make(1000);
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i)
    pthread_create(&threads[i], 0, thread, (void *)(intptr_t)(500 + i));
  for (int i = 0; i < 3; ++i)
    pthread_join(threads[i], 0);
  const pid_t child = fork();
  if (child == 0) {
    make(200);
    execl("/proc/self/exe", argv[0], "again", (char *)0);
    _exit(1);
  }
  int status;
  waitpid(child, &status, 0);
  const pid_t sleeper = fork();
  if (sleeper == 0) {
    printf("sleeper %d\n", getpid());
    fflush(stdout);
    for (;;)
      pause();
  }
  char state = 0;
  do { // until it sleeps in the call
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", sleeper);
    FILE *stat = fopen(path, "r");
    if (fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
      state = 0;
    fclose(stat);
  } while (state != 'S');
  kill(sleeper, SIGKILL);
  waitpid(sleeper, &status, 0);
  return 0;
}
