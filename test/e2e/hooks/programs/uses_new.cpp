// The program frees blocks of the library own_new.cpp, and the library frees the program's blocks. Finally, new throws.
#include <cstdio>
#include <new>

int *make();
void drop(int *);
int main() {
  for (int i = 0; i < 10; ++i)
    drop(new int(i));
  for (int i = 0; i < 10; ++i)
    delete make();
  try {
    ::operator delete(::operator new(std::size_t{1} << 60));
  } catch (const std::bad_alloc &) {
    std::puts("caught");
  }
  int *volatile after = new int(7);
  std::printf("%d\n", *after);
  delete after;
}
