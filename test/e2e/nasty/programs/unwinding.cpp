// Throws exceptions through frames whose objects own blocks. The program stores exceptions of other threads and throws
// them again. The last exception calls std::terminate's handler, which allocates and ends the process.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static int deep(int depth) {
  std::vector<std::string> held(3, std::string(50, 'h'));
  auto more = std::make_unique<int>(depth);
  if (depth == 0)
    throw std::runtime_error(std::string(100, 'e'));
  return deep(depth - 1) + *more;
}

int main() {
  int caught = 0;
  for (int i = 0; i < 50; ++i) {
    std::exception_ptr kept;
    std::thread([&kept, i] {
      try {
        deep(i % 10);
      } catch (...) {
        kept = std::current_exception();
      }
    }).join();
    try {
      std::rethrow_exception(kept);
    } catch (const std::exception &error) {
      caught += error.what()[0] == 'e';
    }
  }
  std::printf("%d\n", caught);
  std::fflush(stdout);
  std::set_terminate([] {
    std::string said(60, 't');
    std::fputs(said.c_str(), stderr);
    std::_Exit(17);
  });
  []() noexcept { deep(3); }();
}
