// Control flow in which a block may be left, or entered, in its middle: exceptions, setjmp, gotos of the program's choice,
// assembly that jumps, exit below other calls.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#define ALONE __attribute__((noinline))

ALONE int risky(int i) {
  if (i % 7 == 3)
    throw std::runtime_error("seven");
  return i * 2;
}
ALONE int catches(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i)
    try {
      sum += risky(i);
      const std::string text(static_cast<size_t>(i), 'a');
      sum += static_cast<int>(text.size());
    } catch (const std::exception &) {
      sum -= 1;
    }
  return sum;
}
ALONE int passes_on(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i)
    sum += risky(i); // leaves the loop, and the function
  return sum;
}

static jmp_buf place;
ALONE void jumps(int i) {
  if (i % 3 == 1)
    longjmp(place, i + 1);
}
ALONE int jumped(int n) {
  volatile int i = 0, back = 0;
  if (setjmp(place))
    back = back + 1;
  while (i < n) {
    const int now = i;
    i = i + 1;
    jumps(now);
  }
  return back;
}

ALONE int gotos(const char *code) {
  static void *const ways[] = {&&add, &&subtract, &&twice, &&end};
  int value = 1;
  goto *ways[*code - '0'];
add:
  ++value;
  goto *ways[*++code - '0'];
subtract:
  value -= 3;
  goto *ways[*++code - '0'];
twice:
  value = value > 100 ? 1 : value * 2;
  goto *ways[*++code - '0'];
end:
  return value;
}

ALONE int jumps_in_assembly(int x) {
  asm goto("testl %0, %0\n jne %l1" : : "r"(x) : "cc" : yes);
  return 1;
yes:
  return 2;
}

ALONE int switches(unsigned x) {
  switch (x % 9) {
  case 0:
  case 3:
    return 1;
  case 1:
    std::puts("one");
    [[fallthrough]];
  case 2:
    return 5;
  case 7:
    return static_cast<int>(x);
  default:
    return 0;
  }
}

ALONE void leave(int n) {
  for (int i = 0;; ++i)
    if (i == n)
      std::exit(0);
    else
      switches(static_cast<unsigned>(i));
}

int main() {
  std::printf("%d\n", catches(30));
  try {
    std::printf("%d\n", passes_on(30));
  } catch (const std::exception &error) {
    std::puts(error.what());
  }
  std::printf("%d\n", jumped(20));
  std::printf("%d\n", gotos("0120210223"));
  std::printf("%d %d\n", jumps_in_assembly(0), jumps_in_assembly(5));
  int sum = 0;
  for (unsigned i = 0; i < 50; ++i)
    sum += switches(i);
  std::printf("%d\n", sum);
  leave(6);
}
