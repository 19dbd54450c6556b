// Installs a new_handler that frees a block. When operator new throws, the program allocates again.
#include <cstdio>
#include <cstdlib>
#include <new>

static void *reserve;
static void giveReserve() {
  std::free(reserve);
  reserve = nullptr;
  std::set_new_handler(nullptr);
}

int main() {
  reserve = std::malloc(70001);
  std::set_new_handler(giveReserve);
  try {
    ::operator delete(::operator new(std::size_t{1} << 60));
  } catch (const std::bad_alloc &) {
    std::printf("caught, reserve %d\n", reserve != nullptr);
  }
  void *nothing = ::operator new(std::size_t{1} << 60, std::nothrow);
  std::printf("%d\n", nothing == nullptr);
  char *volatile kept = new char[70003];
  delete[] new long[7];
  std::printf("%d\n", kept != nullptr);
}
