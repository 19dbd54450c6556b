// freed kept|threads|trimmed|dropped: frees many small blocks, and then works on for a while. At the end, a child prints how many bytes
// malloc_trim(0) gives back.
//
//   kept       some blocks stay alive between the freed ones, so malloc keeps the memory
//   threads    the same, and each of several threads has freed a part
//   trimmed    the program calls malloc_trim(0) itself
//   dropped    no block stays alive, so malloc gives the memory back
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kThreads = 4, kBlocks = 15000, kBytes = 3000, kKeptOneIn = 40 };

static char *blocks[kThreads][kBlocks];
static int drops_all;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void *fill_and_free(void *of) {
  char **list = of;
  for (int i = 0; i < kBlocks; ++i) {
    list[i] = malloc(kBytes); // guilty
    memset(list[i], 1, kBytes);
  }
  for (int i = 0; i < kBlocks; ++i)
    if (drops_all || i % kKeptOneIn != 0) {
      free(list[i]);
      list[i] = NULL;
    }
  return NULL;
}

static long resident_bytes(void) {
  char text[64] = {0};
  long size = 0, pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL || fgets(text, sizeof text, file) == NULL || sscanf(text, "%ld %ld", &size, &pages) != 2)
    exit(1);
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

static int print_trimmed(void) {
  const pid_t child = fork();
  if (child == 0) {
    const long before = resident_bytes();
    malloc_trim(0);
    printf("%ld\n", before - resident_bytes());
    fflush(stdout);
    _exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status;
}

int main(int count, char **arguments) {
  const char *how = count > 1 ? arguments[1] : "kept";
  const double begin = now();
  drops_all = strcmp(how, "dropped") == 0;
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    if (strcmp(how, "threads") != 0)
      fill_and_free(blocks[i]);
    else
      pthread_create(&threads[i], NULL, fill_and_free, blocks[i]);
  }
  for (int i = 0; i < kThreads && strcmp(how, "threads") == 0; ++i)
    pthread_join(threads[i], NULL);
  if (strcmp(how, "trimmed") == 0)
    malloc_trim(0);
  for (const double end = now() + 3 * (now() - begin) + 2; now() < end;)
    usleep(10000);
  return print_trimmed();
}
