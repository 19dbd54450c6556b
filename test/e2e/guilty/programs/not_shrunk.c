// kind: capacity
// options: --access pages
// The program prints a text into a buffer whose size doubles. It never shrinks the block to the length of the text.
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct buffer {
  char *text;
  size_t length, room;
};
__attribute__((noinline)) static void ensure(struct buffer *buffer, size_t more) {
  if (buffer->length + more <= buffer->room)
    return;
  buffer->room = (buffer->length + more) * 2;
  buffer->text = realloc(buffer->text, buffer->room); // guilty: char
}
__attribute__((noinline)) static char *print(const char *text, size_t length) {
  struct buffer buffer = {0};
  for (int i = 0; i < 2; ++i) {
    ensure(&buffer, length);
    memcpy(buffer.text + buffer.length, text, length);
    buffer.length += length;
  }
  ensure(&buffer, 1);
  buffer.text[buffer.length] = 0;
  return buffer.text;
}

int main(void) {
  char *kept[20], *text = malloc(500000);
  size_t sum = 0;
  memset(text, 'x', 500000);
  for (int i = 0; i < 20; ++i) {
    kept[i] = print(text, 500000);
    sum += strlen(kept[i]);
  }
  usleep(1000000);
  printf("%zu\n", sum);
  for (int i = 0; i < 20; ++i)
    free(kept[i]);
  free(text);
}
