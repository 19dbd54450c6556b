// Allocates 64 MiB, touches half of it, and waits. Its child allocates 32 MiB and touches all of it.
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *volatile memory; // volatile, so that the compiler keeps the block

static void have(size_t bytes, size_t touched) {
  memory = malloc(bytes);
  memset(memory, 1, touched);
  usleep(400000);
  free(memory);
}

int main(void) {
  const pid_t child = fork();
  if (child == 0) {
    have(32u << 20, 32u << 20);
    _exit(0);
  }
  have(64u << 20, 32u << 20);
  waitpid(child, NULL, 0);
  return 0;
}
