// Calls functions whose counts are known in advance. The first argument selects where: in threads, in forked
// children, in a library that is opened and closed, or before a kill. work(n) runs its loop n times.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <csignal>
#include <dlfcn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" [[gnu::noinline]] int work(int n) {
  volatile int sum = 0;
  for (int i = 0; i < n; ++i) // loop
    if (i % 2 == 0)
      sum = sum + i; // even
  return sum;
}

namespace {

constexpr int kThreads = 64, kCalls = 100, kLoop = 10;

void inThreads() {
  for (int round = 0; round < 4; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([] {
        for (int call = 0; call < kCalls; ++call)
          work(kLoop);
      });
    for (std::thread &thread : threads)
      thread.join();
  }
}

// Calls work() nine times: twice, then three times in each of two children, and once after the children have ended.
void inChildren() {
  for (int call = 0; call < 2; ++call)
    work(kLoop);
  for (int child = 0; child < 2; ++child) {
    const pid_t pid = fork();
    if (pid == 0) {
      for (int call = 0; call < 3; ++call)
        work(kLoop);
      _exit(0);
    }
    waitpid(pid, nullptr, 0);
  }
  const pid_t pid = vfork();
  if (pid == 0)
    _exit(0);
  waitpid(pid, nullptr, 0);
  work(kLoop);
}

// Calls the library's function five times. After each call the program closes the library and forks a child. The
// child's counts must not contain this function.
void inLibrary(const char *path) {
  for (int round = 0; round < 5; ++round) {
    void *const library = dlopen(path, RTLD_NOW);
    if (library == nullptr)
      std::puts(dlerror());
    reinterpret_cast<int (*)(int)>(dlsym(library, "work_elsewhere"))(kLoop);
    dlclose(library);
    const pid_t pid = fork();
    if (pid == 0)
      _exit(work(0));
    waitpid(pid, nullptr, 0);
  }
}

} // namespace

int main(int, char **arguments) {
  if (std::strcmp(arguments[1], "threads") == 0)
    inThreads();
  else if (std::strcmp(arguments[1], "children") == 0)
    inChildren();
  else if (std::strcmp(arguments[1], "library") == 0)
    inLibrary(arguments[2]);
  else if (std::strcmp(arguments[1], "killed") == 0) {
    for (int call = 0; call < 7; ++call)
      work(kLoop);
    kill(getpid(), SIGKILL);
  } else if (std::strcmp(arguments[1], "many") == 0) {
    std::printf("%d\n", work(std::atoi(arguments[2])));
  }
  std::puts("done");
  return 0;
}
