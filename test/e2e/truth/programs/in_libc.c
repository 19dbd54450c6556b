// Calls functions of the C library that allocate for their caller. Only hooks can record these blocks.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *volatile kept[3];

int main(void) {
  kept[0] = strdup("a string of some length");
  char *text;
  if (asprintf(&text, "%d and %s", 12345, kept[0]) < 0)
    return 1;
  kept[1] = text;
  FILE *file = tmpfile();
  if (file == NULL)
    return 1;
  fputs("one line\nanother, longer line\n", file);
  rewind(file);
  char *line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, file) > 0) {
  }
  kept[2] = line;
  fclose(file);
  char *sorted[200];
  for (int i = 0; i < 200; ++i)
    sorted[i] = strndup("strings that are given back", i % 27);
  for (int i = 0; i < 200; ++i)
    free(sorted[i]);
  return 0;
}
