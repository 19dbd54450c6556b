// The main thread ends by pthread_exit. Other threads continue, and the last of them ends the process.
#include "touch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *goes_on(void *block) {
  usleep(20000);
  free(block);
  for (int i = 0; i < 1000; ++i)
    touch(i);
  puts("after main");
  return NULL;
}

int main(void) {
  for (int i = 0; i < 4; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, goes_on, malloc(100));
    pthread_detach(thread);
  }
  pthread_exit(NULL);
}
