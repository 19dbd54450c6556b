// Forks a child that inherits the parent's blocks, frees one and allocates others. The parent still has all its blocks.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char *volatile kept[4];

int main(void) {
  kept[0] = malloc(1000);
  kept[1] = malloc(2000);
  const pid_t child = fork();
  if (child == 0) {
    free(kept[0]);
    kept[0] = NULL;
    kept[2] = malloc(3000);
    return 3;
  }
  int status;
  if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3)
    return 1;
  kept[3] = malloc(400000);
  free(kept[1]);
  kept[1] = NULL;
  return 0;
}
