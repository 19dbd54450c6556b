// Runs loops like those of numeric operators: nested, with conditions, with early exits, and in several threads.
#include <algorithm>
#include <cstdio>
#include <thread>
#include <vector>

#define ALONE __attribute__((noinline))

ALONE float multiply(int n) {
  std::vector<float> a(static_cast<size_t>(n * n), 1), b(a.size(), 2), c(a.size());
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k)
        sum += a[static_cast<size_t>(i * n + k)] * b[static_cast<size_t>(k * n + j)];
      if (i > j)
        c[static_cast<size_t>(i * n + j)] = sum;
    }
  return c[static_cast<size_t>(n + 0)];
}
ALONE void saxpy(int n, float a, const float *x, float *y) {
  for (int i = 0; i < n; ++i)
    y[i] += a * x[i];
}
ALONE void relu(int n, float *x) {
  for (int i = 0; i < n; ++i)
    if (x[i] < 0)
      x[i] = 0;
}
ALONE int collatz(unsigned n) {
  int steps = 0;
  for (; n != 1; ++steps)
    n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return steps;
}
ALONE int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
ALONE int find(const std::vector<int> &numbers, int wanted) {
  for (size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] == wanted)
      return static_cast<int>(i);
  return -1;
}
ALONE int primes(int n) {
  int count = 0;
  for (int i = 2; i < n; ++i) {
    bool is_prime = true;
    for (int j = 2; j * j <= i && is_prime; ++j) {
      if (j > 3 && (j % 2 == 0 || j % 3 == 0))
        continue;
      is_prime = i % j != 0;
    }
    count += is_prime;
  }
  return count;
}

int main() {
  std::printf("%g\n", static_cast<double>(multiply(30)));
  std::vector<float> x(1000, 1), y(1000, -2);
  saxpy(1000, 3, x.data(), y.data());
  y[7] = -1;
  relu(1000, y.data());
  std::printf("%g\n", static_cast<double>(y[7] + y[8]));
  int steps = 0;
  for (unsigned i = 1; i < 300; ++i)
    steps += collatz(i);
  std::printf("%d %d %d\n", steps, fibonacci(15), primes(2000));
  std::vector<int> numbers{5, 3, 9, 1, 7};
  std::printf("%d %d\n", find(numbers, 9), find(numbers, 4));
  std::sort(numbers.begin(), numbers.end());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([i] { fibonacci(8 + i); });
  for (std::thread &thread : threads)
    thread.join();
  return numbers[0];
}
