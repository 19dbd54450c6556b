// Has branches, calls through a pointer, compound conditions, an unused function, and two functions with one name.
#include <cstdio>
#include <vector>

namespace {
template <class T> int odd(T a, T b, T c) { return (a && b) || (!b && c) ? 1 : 0; }
} // namespace

int never(int x) { return x + 1; }
static int twice(int x) { return 2 * x; }
static int thrice(int x) { return 3 * x; }

int main(int count, char **) {
  int sum = 0;
  int (*calls[])(int) = {twice, thrice};
  for (int i = 0; i < 1000 + count; ++i) {
    switch (i % 5) {
    case 0:
      sum += odd(i & 1, i & 2, i & 4);
      break;
    case 1:
      sum += calls[i & 1](i);
      break;
    default:
      sum += odd<long>(i & 8, i & 1, 1);
    }
  }
  std::printf("%d\n", sum);
  return sum == 0 ? never(sum) : 0;
}
