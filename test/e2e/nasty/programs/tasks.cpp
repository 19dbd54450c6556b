// Defines coroutines that tasks_main.cpp awaits. The coroutines own blocks while they are suspended.
#include "tasks.h"

#include <cstdlib>
#include <memory>

static Task one(int number) {
  auto held = std::make_unique<int[]>(number + 1);
  held[number] = number;
  co_return held[number];
}

Task sum(int count) {
  int *numbers = static_cast<int *>(std::malloc(sizeof(int) * (count + 1)));
  int all = 0;
  for (int i = 0; i < count; ++i) {
    numbers[i] = co_await one(i);
    all += numbers[i];
  }
  std::free(numbers);
  co_return all;
}
