// An ordinary program with threads, which the test builds with ThreadSanitizer and at several optimisation levels.
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

int main() {
  std::mutex mutex;
  std::vector<std::unique_ptr<std::string>> all;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int number = 0; number < 200; ++number) {
        auto made = std::make_unique<std::string>(20 + number, char('a' + i));
        std::lock_guard lock(mutex);
        all.push_back(std::move(made));
        if (all.size() > 100)
          all.erase(all.begin(), all.begin() + 50);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  int *volatile lost = new int[10];
  lost = nullptr;
  std::puts("leaked 40 1");
}
