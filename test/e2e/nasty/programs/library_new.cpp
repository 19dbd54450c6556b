// A library without instrumentation defines operator new and delete for the whole process. These operators do not call
// malloc. The program frees the library's blocks, and the library frees the program's blocks.
#include <cstddef>
#include <new>

namespace {
alignas(16) char pool[1 << 20];
std::size_t used;
} // namespace

void *operator new(std::size_t size) {
  void *block = pool + used;
  used += (size + 15) & ~std::size_t(15);
  return block;
}
void operator delete(void *) noexcept {}
void operator delete(void *, std::size_t) noexcept {}

int *make() { return new int(1); }
void drop(int *block) { delete block; }
