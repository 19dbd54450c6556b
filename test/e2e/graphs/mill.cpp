// A program whose counts are easy to compute. argv[1] is the number of rounds of its loops.
#include <cstdio>
#include <cstdlib>

#define APART [[gnu::noinline]]

APART int turns(int rounds) {
  int sum = 0;
  for (int i = 0; i < rounds; ++i) {
    if (i % 4 == 0)
      sum += std::printf("."); // runs in a quarter of the rounds
    if (sum < 0)
      std::abort(); // never runs
  }
  return sum;
}

// The name of a symbol may contain any character, so the page must escape this name.
APART int hostile(int x) asm("</script><img src=x onerror=hacked()>&amp;\"'\n,{{graphs}}");
APART int hostile(int x) {
  while (x > 100)
    x = std::rand() % 100;
  return x;
}

APART int fewer(int x) { return x > 2 ? std::rand() : x; }

#ifdef OTHER_BUILD
APART int added(int x) { return std::rand() + x; }
#endif

int main(int, char **argv) {
  const int rounds = std::atoi(argv[1]);
  int sum = turns(rounds) + hostile(rounds) + fewer(1);
#ifdef OTHER_BUILD
  sum += added(1);
  if (sum == 12345)
    std::puts("no");
#endif
  std::printf("\n%d\n", sum > 0);
}
