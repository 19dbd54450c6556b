// A few things of different size, done beside each other as far as there are processors.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

namespace msleaks::analysis::profiles {

// Calls f(0) to f(count - 1), each once. What one of them throws is thrown here, when all have ended.
template <class F> void eachInParallel(size_t count, F &&f) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < count;)
      f(i);
  };
  std::vector<std::future<void>> helpers;
  const size_t most = std::min<size_t>(count, std::max(1u, std::thread::hardware_concurrency()));
  try {
    while (helpers.size() + 1 < most)
      helpers.push_back(std::async(std::launch::async, work));
  } catch (const std::system_error &) {
    // No more threads are to be had; those that there are do all of it.
  }
  work();
  for (std::future<void> &helper : helpers)
    helper.get();
}

} // namespace msleaks::analysis::profiles
