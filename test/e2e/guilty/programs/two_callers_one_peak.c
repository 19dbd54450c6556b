// kind: peak
// Two callers need an equally large buffer at different times. If one caller is fixed, the other still causes the peak.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static void *xmalloc(size_t bytes) {
  void *block = malloc(bytes);
  if (!block)
    abort();
  return block;
}
__attribute__((noinline)) static int sorted(const int *numbers, int count) {
  int *sorting = xmalloc(4000000); // guilty:
  memcpy(sorting, numbers, count * sizeof *numbers);
  int least = sorting[0];
  for (int i = 1; i < count; ++i)
    least = sorting[i] < least ? sorting[i] : least;
  free(sorting);
  return least;
}
__attribute__((noinline)) static int first(const int *numbers) { return sorted(numbers, 10) + 1; }
__attribute__((noinline)) static int second(const int *numbers) { return sorted(numbers, 20) + 2; }

int main(void) {
  int *numbers = xmalloc(100000);
  memset(numbers, 1, 100000);
  printf("%d\n", first(numbers) + second(numbers));
  free(numbers);
}
