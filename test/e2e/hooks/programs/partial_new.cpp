// Replaces only the plain `operator new`. libstdc++'s other forms, such as `operator new[]`, call this replacement.
#include <cstdio>
#include <cstdlib>
#include <new>

static int calls;
void *operator new(std::size_t size) {
  ++calls;
  return std::malloc(size);
}

int main() {
  char *volatile text = new char[10];
  int *volatile number = new int;
  delete[] text;
  delete number;
  void *volatile empty = ::operator new[](0);
  std::printf("%d %d\n", calls, empty != nullptr);
  ::operator delete[](empty);
}
