// Allocates and frees while a thread or the process ends: in atexit handlers, and in destructors of objects and of
// thread keys. A key's destructor sets the key again. One thread still runs at the end.
#include "touch.h"

#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

struct Talker {
  std::vector<std::string> words{std::string(100, 'x')};
  ~Talker() {
    words.push_back(std::string(200, 'y'));
    touch(words.size());
  }
};

static Talker at_the_end;
thread_local Talker of_the_thread;
static pthread_key_t key;

static void again(void *block) {
  static thread_local int times = 0;
  std::free(block);
  pthread_setspecific(key, ++times < 3 ? std::malloc(70) : nullptr);
}

static void work() {
  of_the_thread.words.push_back("begun");
  pthread_setspecific(key, std::malloc(70));
}

int main() {
  pthread_key_create(&key, again);
  std::atexit([] { touch(33); });
  for (int i = 0; i < 20; ++i)
    std::thread(work).join();
  work();
  pthread_setspecific(key, nullptr); // clears the key, so that its destructor does not run for the main thread
  pthread_t runs_on;
  pthread_create(
      &runs_on, nullptr,
      [](void *) -> void * {
        for (;;)
          pause();
      },
      nullptr);
  std::puts("leaked 70 1");
  return 0;
}
