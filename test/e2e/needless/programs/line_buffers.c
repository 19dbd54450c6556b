// kind: overallocated
// saves: 80200000
// A reader keeps each line in the buffer in which it has read the line. The buffer has room for the longest line that
// POSIX allows. The change keeps a block of the line's own size.
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kLines = 20000, kLongest = 4096 };

struct text {
  char *lines[kLines];
};

__attribute__((noinline)) static int readLine(char *line, int number) {
  return snprintf(line, kLongest, "%d: a line of %d bytes or so %0*d", number, number % 100, number % 100, number);
}

__attribute__((noinline)) static void keepLine(struct text *text, int number) {
#ifdef MENDED
  char buffer[kLongest];
  const size_t size = (size_t)readLine(buffer, number) + 1;
  text->lines[number] = memcpy(malloc(size), buffer, size);
#else
  text->lines[number] = malloc(kLongest); // guilty
  readLine(text->lines[number], number);
#endif
}

int main(void) {
  static struct text text;
  size_t bytes = 0;
  for (int i = 0; i < kLines; ++i)
    keepLine(&text, i);
  usleep(100000); // the program goes on
  for (int i = 0; i < kLines; ++i)
    bytes += strlen(text.lines[i]);
  printf("%zu\n", bytes);
  for (int i = 0; i < kLines; ++i)
    free(text.lines[i]);
}
