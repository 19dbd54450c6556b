// Forks children that allocate a block and then exec. The exec discards the block, so the block is not a leak.
//
//   usage: exec_storm CHILDREN
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  const int children = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 0; i < children; ++i) {
    if (fork() == 0) {
      *(volatile char *)malloc(50) = 1;
      execl("/proc/self/exe", argv[0], (char *)NULL);
      _exit(1);
    }
    wait(NULL);
  }
  void *volatile block = malloc(1); // makes msleaks record an event of each image
  free(block);
  return 0;
}
