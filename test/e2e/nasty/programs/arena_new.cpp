// The program's operator new returns parts of a mapping. The first part begins at the address
// of the mapping. The program never unmaps the mapping, so at the end only the mapping is alive.
#include <cstddef>
#include <cstdio>
#include <new>
#include <sys/mman.h>

namespace {
constexpr std::size_t kBytes = std::size_t(1) << 20;
char *at, *end;
} // namespace

void *operator new(std::size_t size) {
  size = (size + 15) & ~std::size_t(15);
  if (at + size > end) {
    at = static_cast<char *>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    end = at + kBytes;
  }
  char *block = at;
  at += size;
  return block;
}
void operator delete(void *) noexcept {}
void operator delete(void *, std::size_t) noexcept {}

double *volatile keep;

int main() {
  for (int i = 0; i < 100; ++i) {
    keep = new double(i);
    delete keep;
  }
  std::printf("leaked %zu 1\n", kBytes);
}
