// The program overwrites the pointer to a formatted message with a pointer to a second message. The first one leaks.
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// Wraps libc's vasprintf, as many libraries do.
__attribute__((noinline)) static char *format(const char *pattern, ...) {
  char *text = NULL;
  va_list arguments;
  va_start(arguments, pattern);
  if (vasprintf(&text, pattern, arguments) < 0)
    text = NULL;
  va_end(arguments);
  return text;
}
__attribute__((noinline)) static char *describe(int number) {
  char *text = format("number %d", number); // guilty: char
  if (number > 5)
    text = format("large number %d", number);
  return text;
}

int main(void) {
  for (int i = 0; i < 30; ++i) {
    char *text = describe(i);
    if (text)
      putchar(text[0]);
    free(text);
  }
}
