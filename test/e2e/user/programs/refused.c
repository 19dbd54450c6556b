// Requests more memory than the limit allows, while ten blocks of 10 MiB and one block of 5 MiB are alive.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static void *held[10], *table;

// Hides the block from the optimiser, so that the compiler does not delete the allocation.
static void *used(void *block) {
  __asm__ volatile("" : "+r"(block)::"memory");
  return block;
}

// Limits the address space to 256 MiB more than the process uses now.
static void limit(void) {
  char text[64] = {0};
  FILE *file = fopen("/proc/self/statm", "r");
  const size_t pages = file && fgets(text, sizeof text, file) ? strtoul(text, 0, 10) : 0;
  fclose(file);
  const rlim_t bytes = pages * (size_t)sysconf(_SC_PAGESIZE) + 256 * MIB;
  setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
}

// Returns whether malloc can allocate this number of bytes.
static int ask(size_t bytes) {
  void *block = used(malloc(bytes)); // too much
  const int is_there = block != 0;
  free(block);
  return is_there;
}

// Requests half of the size after each refusal, as std::get_temporary_buffer does.
static void askForLess(size_t bytes) {
  void *block = 0;
  for (; block == 0 && bytes != 0; bytes /= 2)
    block = used(malloc(bytes));
  free(block);
}

int main(int count, char **arguments) {
  const char *what = count > 1 ? arguments[1] : "";
  limit();
  table = used(malloc(5 * MIB)); // the oldest
  for (int i = 0; i < 10; ++i)
    held[i] = used(malloc(10 * MIB)); // the largest
  if (strcmp(what, "kill-alone") == 0)
    raise(SIGKILL);
  if (strcmp(what, "probe") == 0) {
    askForLess(1024 * MIB);
  } else if (!ask(1024 * MIB)) {
    if (strcmp(what, "abort") == 0)
      abort();
    if (strcmp(what, "kill") == 0)
      raise(SIGKILL);
  }
  for (int i = 0; i < 10; ++i)
    free(held[i]);
  free(table);
  puts("done");
  return 0;
}
