// kind: capacity
// saves: 30000000
// Modelled on boostorg/json, pull request 1178, "reuse existing capacity in sbo_buffer::grow". A buffer doubles with
// each text that is appended, although there is room. With the change, the buffer does not grow if the text fits.
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct buffer {
  char *data;
  size_t size, capacity;
};

__attribute__((noinline)) static void grow(struct buffer *buffer, size_t more) {
  const size_t needed = buffer->size + more;
#ifdef MENDED
  if (needed <= buffer->capacity)
    return;
#endif
  buffer->capacity = 2 * buffer->capacity > needed ? 2 * buffer->capacity : needed;
  buffer->data = realloc(buffer->data, buffer->capacity); // guilty
}

__attribute__((noinline)) static void append(struct buffer *buffer, const char *text, size_t size) {
  grow(buffer, size);
  memcpy(buffer->data + buffer->size, text, size);
  buffer->size += size;
}

int main(void) {
  static char text[3000000];
  struct buffer buffer = {0};
  memset(text, '7', sizeof text);
  for (int number = 0; number < 5; ++number) {
    buffer.size = 0;
    append(&buffer, text, sizeof text - 1000000 + 1);
  }
  usleep(100000); // stands for further work of the program
  printf("%zu %c\n", buffer.size, buffer.data[buffer.size - 1]);
  free(buffer.data);
}
