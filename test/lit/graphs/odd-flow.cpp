// A counted program has exceptions, setjmp, computed goto, asm goto, switches with several edges to one block, and exit in a call. It
// prints the same as the uncounted program, at each level. test/e2e/graphs/truth_test.py compares the counts of its edges.
// RUN: %clangxx -O0 -g %s -o %t.0 && %t.0 | FileCheck %s
// RUN: env MSLEAKS_PASS=cfg %clangxx -O0 -g %s -o %t.0 && %t.0 | FileCheck %s
// RUN: env MSLEAKS_PASS=cfg %clangxx -O2 -g %s -o %t.2 && %t.2 | FileCheck %s
// RUN: env MSLEAKS_PASS='cfg;counters=all' %clangxx -O2 -g %s -o %t.a && %t.a | FileCheck %s
// RUN: %if sanitizers %{ env MSLEAKS_PASS=cfg %clangxx -O2 -g -fsanitize=address,undefined %s -o %t.s && %t.s | FileCheck %s %}
// The counted code is valid IR at each of these levels.
// RUN: env MSLEAKS_PASS=cfg %clangxx -O0 -g -S -emit-llvm %s -o - | %opt -passes=verify -disable-output
// RUN: env MSLEAKS_PASS=cfg %clangxx -O2 -g -S -emit-llvm %s -o - | %opt -passes=verify -disable-output
// RUN: env MSLEAKS_PASS='cfg;counters=all' %clangxx -O2 -g -S -emit-llvm %s -o - | %opt -passes=verify -disable-output
// RUN: env MSLEAKS_PASS='cfg;counters=calls' %clangxx -O2 -g -S -emit-llvm %s -o - | %opt -passes=verify -disable-output
// RUN: %clangxx -O2 -g -S -emit-llvm -Xclang -disable-llvm-passes %s -o - | %opt -passes='msl-count<cfg>,verify,default<O2>,verify' -disable-output
// CHECK: caught 4 of 30
// CHECK-NEXT: seven
// CHECK-NEXT: jumped 4
// CHECK-NEXT: gotos -9
// CHECK-NEXT: asm 1 2
// CHECK-NEXT: switches 47
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
ALONE int caught(int n) {
  int count = 0;
  for (int i = 0; i < n; ++i)
    try {
      const std::string text(static_cast<size_t>(risky(i)), 'a');
      count += text.size() == 1; // never, since the size is even
    } catch (const std::exception &) {
      ++count;
    }
  return count;
}

ALONE int passes_on(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i)
    sum += risky(i); // an exception leaves the loop and the function
  return sum;
}

static jmp_buf place;
ALONE void jump(int i) {
  if (i % 3 == 1)
    longjmp(place, i);
}
ALONE int jumped(int n) {
  volatile int i = 0, back = 0;
  if (setjmp(place))
    back = back + 1;
  while (i < n) {
    const int now = i;
    i = i + 1;
    jump(now);
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
  value -= 4;
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
  case 4:
    return 1;
  case 2:
  case 7:
    return 5;
  case 5:
    std::fputs("", stdout);
    [[fallthrough]];
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
  std::printf("caught %d of 30\n", caught(30));
  try {
    std::printf("%d\n", passes_on(30));
  } catch (const std::exception &error) {
    std::puts(error.what());
  }
  std::printf("jumped %d\n", jumped(12));
  std::printf("gotos %d\n", gotos("00120113"));
  std::printf("asm %d %d\n", jumps_in_assembly(0), jumps_in_assembly(5));
  int sum = 0;
  for (unsigned i = 0; i < 32; ++i)
    sum += switches(i);
  std::printf("switches %d\n", sum);
  leave(6);
}
