// If the input is invalid, unpack() does not end the stream that it began. Streams allocate through function pointers.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stream {
  void *(*take)(void *opaque, unsigned items, unsigned bytes);
  void (*give)(void *opaque, void *block);
  void *opaque, *window, *state;
};
static void *take(void *opaque, unsigned items, unsigned bytes) { return calloc(items, bytes); }
static void give(void *opaque, void *block) { free(block); }

__attribute__((noinline)) static int stream_begin(struct stream *stream) {
  if (!stream->take) {
    stream->take = take;
    stream->give = give;
  }
  stream->state = stream->take(stream->opaque, 1, 7000);
  stream->window = stream->take(stream->opaque, 32768, 1);
  return stream->state && stream->window ? 0 : -1;
}
__attribute__((noinline)) static void stream_end(struct stream *stream) {
  stream->give(stream->opaque, stream->state);
  stream->give(stream->opaque, stream->window);
}
__attribute__((noinline)) static int unpack(const char *data) {
  struct stream stream = {0};
  if (stream_begin(&stream) != 0) // guilty:
    return -1;
  if (data[0] != 'z')
    return -1;
  stream_end(&stream);
  return 0;
}

int main(void) {
  int broken = 0;
  for (int i = 0; i < 10; ++i)
    broken += unpack(i % 2 ? "zip" : "text") != 0;
  printf("%d\n", broken);
}
