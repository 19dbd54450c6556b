// Reads a word of its standard input by scanf and the rest by getline, and prints the sorted lines. The test may close
// the standard output, or connect it to /dev/full. The exit status shows whether writing failed.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *left, const void *right) { return strcmp(*(char *const *)left, *(char *const *)right); }

int main(void) {
  char **lines = NULL, *line = NULL, *word = NULL;
  size_t count = 0, room = 0;
  if (scanf("%ms", &word) == 1)
    fprintf(stderr, "first %s\n", word);
  free(word);
  while (getline(&line, &room, stdin) > 0) {
    lines = realloc(lines, (count + 1) * sizeof *lines);
    lines[count++] = strdup(line);
  }
  free(line);
  if (count > 0)
    qsort(lines, count, sizeof *lines, compare);
  for (size_t i = 0; i < count; ++i) {
    fputs(lines[i], stdout);
    free(lines[i]);
  }
  free(lines);
  errno = 0;
  int failed = fflush(stdout);
  fprintf(stderr, "%d %d\n", failed, errno);
  return failed ? 4 : 0;
}
