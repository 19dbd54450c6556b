// The program does not free the text of a memory stream. fclose allocated the final block of this text by realloc.
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static size_t rendered(int rows) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *stream = open_memstream(&text, &bytes);
  for (int i = 0; i < rows; ++i)
    fprintf(stream, "row %d\n", i);
  fclose(stream); // guilty:
  return bytes;
}

int main(void) {
  size_t sum = 0;
  for (int i = 0; i < 10; ++i)
    sum += rendered(5);
  printf("%zu\n", sum);
}
