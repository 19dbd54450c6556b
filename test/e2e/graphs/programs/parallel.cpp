// Runs loops that OpenMP divides among four threads. Also makes so many nested calls that they must be tail calls.
#include <cstdio>
#include <numeric>
#include <vector>

#define ALONE __attribute__((noinline))

ALONE void treble(std::vector<int> &values) {
  const int count = static_cast<int>(values.size());
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < count; ++i)
    if (values[static_cast<size_t>(i)] % 3 == 0)
      values[static_cast<size_t>(i)] *= 3; // trebled
}

ALONE long sumOfOdd(const std::vector<int> &values) {
  const int count = static_cast<int>(values.size());
  long sum = 0;
#pragma omp parallel for num_threads(4) schedule(dynamic, 7) reduction(+ : sum)
  for (int i = 0; i < count; ++i)
    if (values[static_cast<size_t>(i)] % 2 == 1)
      sum += values[static_cast<size_t>(i)]; // odd
  return sum;
}

ALONE bool isOdd(unsigned n);
ALONE bool isEven(unsigned n) {
  if (n == 0)
    return true;
  [[clang::musttail]] return isOdd(n - 1);
}
ALONE bool isOdd(unsigned n) {
  if (n == 0)
    return false;
  [[clang::musttail]] return isEven(n - 1);
}

int main() {
  std::vector<int> values(1000);
  std::iota(values.begin(), values.end(), 0);
  for (int round = 0; round < 5; ++round)
    treble(values);
  std::printf("%ld %d\n", sumOfOdd(values), isEven(3'000'001));
}
