// A library that defines its own operators new and delete, as tcmalloc does. These operators do not call malloc.
#include <cstddef>
#include <cstdlib>
#include <new>

static char pool[1 << 20];
static std::size_t used;
void *operator new(std::size_t size) {
  if (size > sizeof pool - used)
    throw std::bad_alloc();
  void *block = pool + used;
  used += (size + 15) & ~std::size_t(15);
  return block;
}
void operator delete(void *) noexcept {}
void operator delete(void *, std::size_t) noexcept {}
int *make() { return new int(1); }
void drop(int *block) { delete block; }
