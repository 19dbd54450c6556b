// A reader passes buffers to workers, which free them. If the reader reads nothing, it does not free its buffer.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 100000 };
static size_t left = 10 * ROOM, done;

static void *compress(void *buffer) {
  done += ((char *)buffer)[0] != 0;
  free(buffer);
  return NULL;
}
static void *read_all(void *nothing) {
  for (;;) {
    char *buffer = malloc(ROOM); // guilty: char
    size_t got = left < ROOM ? left : ROOM;
    memset(buffer, 'x', got);
    left -= got;
    if (got > 0) {
      pthread_t worker;
      pthread_create(&worker, NULL, compress, buffer);
      pthread_join(worker, NULL);
    }
    if (got < ROOM)
      return nothing;
  }
}

int main(void) {
  for (int i = 0; i < 5; ++i) {
    pthread_t reader;
    left = 10 * ROOM;
    pthread_create(&reader, NULL, read_all, NULL);
    pthread_join(reader, NULL);
  }
  printf("%zu\n", done);
}
