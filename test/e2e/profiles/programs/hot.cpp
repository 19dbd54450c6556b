// Spends its time in known functions: mix and sum in the program, and a function of a library that it opens. The name
// of mix has a comma. A child executes this program again and spends its time in mix and sum, too.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

template <class A, class B> [[gnu::noinline]] uint64_t mix(uint64_t x) {
  for (int i = 0; i < 64; ++i)
    x = x * sizeof(A) * 0x5851f42d4c957f2d + sizeof(B);
  return x;
}

[[gnu::noinline]] static uint64_t sum(uint64_t rounds) {
  uint64_t total = 0;
  for (uint64_t i = 0; i < rounds; ++i)
    total += mix<char, long>(i) % 7;
  return total;
}

int main(int count, char **arguments) {
  const uint64_t rounds = 4'000'000;
  if (count == 2) // in the child
    return std::printf("%d\n", sum(rounds) == 0) < 0;
  if (void *library = dlopen(arguments[2], RTLD_NOW))
    reinterpret_cast<uint64_t (*)(uint64_t)>(dlsym(library, "in_library"))(rounds);
  const pid_t child = fork();
  if (child == 0)
    execl(arguments[0], arguments[0], "child", nullptr);
  waitpid(child, nullptr, 0);
  for (int i = 0; i < 2000; ++i) { // causes page faults
    void *block = std::malloc(1 << 20);
    std::memset(block, i, 1 << 16);
    std::free(block);
  }
  std::printf("%d\n", sum(rounds) == 0);
  return 0;
}
