// Blocks leak after the peak, so a fix would not lower the peak. Three earlier large buffers are freed in time.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static unsigned long fill(volatile char *block, unsigned long bytes) {
  for (unsigned long i = 0; i < bytes; ++i)
    block[i] = (char)i;
  return block[bytes / 2];
}
__attribute__((noinline)) static unsigned long load(void) {
  char *text = malloc(900000);
  char *tokens = malloc(800000);
  char *code = malloc(700000);
  unsigned long sum = fill(text, 900000) + fill(tokens, 800000) + fill(code, 700000);
  free(text);
  free(tokens);
  free(code);
  return sum;
}
__attribute__((noinline)) static int answer(int number) {
  char *reply = malloc(30000); // guilty: char
  snprintf(reply, 30000, "reply %d", number);
  if (number % 3 == 0)
    return -1;
  int length = (int)strlen(reply);
  free(reply);
  return length;
}

int main(void) {
  unsigned long sum = load();
  for (int i = 0; i < 60; ++i)
    sum += answer(i);
  printf("%lu\n", sum);
}
