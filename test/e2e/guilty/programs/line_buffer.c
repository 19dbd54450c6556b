// The caller must free getline's buffer, even if getline fails at the end of the file. This program leaks the buffer.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static size_t longest(const char *path) {
  size_t room = 0, most = 0;
  char *line = NULL;
  FILE *file = fopen(path, "r");
  if (!file)
    return 0;
  while (getline(&line, &room, file) >= 0) // guilty: char
    most = strlen(line) > most ? strlen(line) : most;
  fclose(file);
  return most;
}

int main(void) {
  size_t sum = 0;
  for (int i = 0; i < 5; ++i)
    sum += longest("/etc/passwd");
  printf("%d\n", sum > 0);
}
