// If the program cannot parse a file, it does not close the file. The finding about handles includes the FILE's blocks.
// kind: handles
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static FILE *open_checked(const char *path) {
  FILE *file = fopen(path, "r"); // not at fault, since the caller must close the file
  if (!file)
    perror(path);
  return file;
}
__attribute__((noinline)) static int processors(const char *path) {
  char line[4096];
  FILE *file = open_checked(path); // guilty:
  if (!file || !fgets(line, sizeof line, file))
    return -1;
  int count = 0;
  if (sscanf(line, "processors %d", &count) != 1)
    return -1;
  fclose(file);
  return count;
}

int main(void) {
  int known = 0;
  for (int i = 0; i < 8; ++i)
    known += processors("/etc/passwd") > 0;
  printf("%d\n", known);
}
