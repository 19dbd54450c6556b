// The program replaces operator new and delete by functions that call malloc and free. The compiler sees their
// definitions, so it may inline these operators.
#include <cstdlib>
#include <new>

#include <cstdio>

void *operator new(std::size_t size) { return std::malloc(size); }
void operator delete(void *block) noexcept { std::free(block); }
void operator delete(void *block, std::size_t) noexcept { std::free(block); }

int *volatile keep;

int main() {
  for (int i = 0; i < 1000; ++i) {
    keep = new int(i);
    delete keep;
  }
  long *volatile lost = new long[5];
  lost = nullptr;
  std::puts("leaked 40 1");
}
