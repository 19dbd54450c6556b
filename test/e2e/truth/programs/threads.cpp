// Threads free blocks of other threads. Some blocks leak. Each thread waits until all threads have their blocks, so the
// peak is the same in each run.
#include <barrier>
#include <cstdlib>
#include <thread>
#include <vector>

constexpr int kThreads = 4;
std::barrier everyone(kThreads);
void *blocks[kThreads];

void work(int number) {
  blocks[number] = std::malloc(100'000 + number);
  everyone.arrive_and_wait(); // the peak is here, where every thread has its block
  std::free(blocks[(number + 1) % kThreads]);
  everyone.arrive_and_wait();
  if (number % 2)
    blocks[number] = std::malloc(1000 + number);
  for (int i = 0; i < 1000; ++i)
    std::free(std::malloc(i));
}

int main() {
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back(work, i);
}
