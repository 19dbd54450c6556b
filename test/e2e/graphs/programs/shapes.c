/* Functions whose blocks and edges are known. The file is compiled as C and as C++. */
#include <stdio.h>

__attribute__((noinline)) static int inner(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i)
    if (i % 3 == 0)
      sum += i;
  return sum;
}

__attribute__((noinline)) int outer(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i)
    switch (i & 7) {
    case 1:
      sum += inner(i);
      break;
    case 2:
    case 5:
      sum ^= inner(2 * i);
      break;
    default:
      sum -= 3;
    }
  return sum;
}

__attribute__((noinline)) int never(int n) { return n > 3 ? inner(n) : outer(n + 1); }

int main(int count, char **arguments) {
  (void)arguments;
  printf("%d\n", count < 100 ? outer(16 * count) : never(count));
  return 0;
}
