// The pass marks a coroutine's calls before the coroutine is split, while its variables' names are known. The pass rewrites the calls
// later, when the parts are ordinary functions.
// RUN: %build_cxx -std=c++20 -O0 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_cxx -std=c++20 -O2 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
#include "keep.h"
#include <coroutine>
#include <cstdio>

struct Task {
  struct promise_type {
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};

__attribute__((noinline)) static Task work(int n) {
  float *early = new float[n];
  keep(early);
  co_await std::suspend_always{};
  int *late = new int[n];
  keep(late);
  delete[] late;
  delete[] early;
}

int main() {
  // This block is the frame of the coroutine.
  // CHECK: on_alloc heap alloc block size={{[0-9]+}} | _Znwm at coroutines.cpp:{{[0-9]+}} in _ZL4worki
  Task task = work(3);
  // CHECK: on_alloc heap alloc block size=12 | _Znam at coroutines.cpp:[[#@LINE-13]] in _ZL4worki{{(.resume)?}} variable=early type=float
  task.handle.resume();
  // CHECK: on_alloc heap alloc block size=12 | _Znam at coroutines.cpp:[[#@LINE-12]] in _ZL4worki{{(.resume)?}} variable=late type=int
  // CHECK: on_free heap free block size=0 | _ZdaPv at coroutines.cpp:[[#@LINE-11]] in _ZL4worki{{(.resume)?}}
  // CHECK: on_free heap free block size=0 | _ZdaPv at coroutines.cpp:[[#@LINE-11]] in _ZL4worki{{(.resume)?}}
  task.handle.resume();
  // CHECK: on_free heap free block size=0 | _ZdlPv
  task.handle.destroy();
  std::puts("done");
}
// PLAIN: done
// PLAIN-NOT: {{.}}
