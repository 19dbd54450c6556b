// Defines the coroutine type of tasks.cpp and tasks_main.cpp: a task that starts when it is awaited.
#pragma once
#include <coroutine>
#include <exception>
#include <utility>

struct Task {
  struct promise_type {
    int result = 0;
    std::coroutine_handle<> waiting;
    Task get_return_object() { return Task{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct Final {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        return self.promise().waiting ? self.promise().waiting : std::noop_coroutine();
      }
      void await_resume() noexcept {}
    };
    Final final_suspend() noexcept { return {}; }
    void return_value(int value) { result = value; }
    void unhandled_exception() { std::terminate(); }
  };
  explicit Task(std::coroutine_handle<promise_type> made) : handle(made) {}
  Task(Task &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  ~Task() {
    if (handle)
      handle.destroy();
  }
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
    handle.promise().waiting = caller;
    return handle;
  }
  int await_resume() { return handle.promise().result; }
  std::coroutine_handle<promise_type> handle;
};

Task sum(int count);
