// Uses C++20 coroutines. operator new allocates their frames, except those that the compiler elides. Some coroutines
// throw. The program destroys some frames while their suspended coroutines are in a loop and own a block.
#include <coroutine>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

struct Generator {
  struct promise_type {
    std::string value;
    std::exception_ptr error;
    Generator get_return_object() { return Generator{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(std::string given) {
      value = std::move(given);
      return {};
    }
    void return_void() {}
    void unhandled_exception() { error = std::current_exception(); }
  };
  explicit Generator(std::coroutine_handle<promise_type> made) : handle(made) {}
  Generator(Generator &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  ~Generator() {
    if (handle)
      handle.destroy();
  }
  bool next() {
    handle.resume();
    if (handle.promise().error)
      std::rethrow_exception(std::exchange(handle.promise().error, nullptr));
    return !handle.done();
  }
  std::coroutine_handle<promise_type> handle;
};

[[gnu::noinline]] Generator words(int count) {
  auto held = std::make_unique<int[]>(100);
  for (int i = 0; i < count; ++i) {
    held[i % 100] = i;
    co_yield std::string(40 + i, 'w');
  }
  if (count == 7)
    throw std::runtime_error("seven");
}

Generator *volatile forgotten;

int main() {
  std::size_t length = 0;
  int thrown = 0;
  for (int count = 0; count < 20; ++count) {
    try {
      Generator left_half_way = words(count);
      for (int i = 0; i <= count / 2 && left_half_way.next(); ++i)
        length += left_half_way.handle.promise().value.size();
      Generator finished = words(count);
      while (finished.next())
        length += finished.handle.promise().value.size();
    } catch (const std::runtime_error &) {
      ++thrown;
    }
  }
  forgotten = new Generator(words(3));
  forgotten->handle.destroy();
  forgotten->handle = nullptr;
  std::printf("%zu %d\nleaked %zu 1\n", length, thrown, sizeof(Generator));
}
