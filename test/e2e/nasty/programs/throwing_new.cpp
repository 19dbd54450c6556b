// Makes operator new throw: by too many bytes, by a class's own operator, and by an array size that overflows. A
// new-handler frees a reserve. Also uses nothrow, aligned and sized forms, and constructors that throw in an array.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

static int caught, built;
static void *reserve = std::malloc(1000);

struct Throws {
  char bytes[24];
  Throws() {
    if (++built % 4 == 0)
      throw built;
  }
  ~Throws() { bytes[0] = 0; }
};
struct Own {
  static void *operator new(std::size_t size) {
    if (++built % 3 == 0)
      throw std::bad_alloc();
    return std::malloc(size);
  }
  static void operator delete(void *block) { std::free(block); }
  int number;
};
struct alignas(128) Wide {
  char bytes[256];
};
template <class Make> static void attempt(Make make) {
  try {
    make();
  } catch (const std::bad_alloc &) {
    ++caught;
  } catch (int) {
    ++caught;
  }
}

volatile std::size_t huge = std::size_t(1) << 60;

int main() {
  std::set_new_handler([] {
    std::free(reserve);
    reserve = nullptr;
    std::set_new_handler(nullptr);
  });
  for (int i = 0; i < 20; ++i) {
    attempt([] { delete[] new char[huge]; });
    attempt([] { delete[] new double[huge]; });
    attempt([] { delete[] new Throws[5]; });
    attempt([] { delete new Throws; });
    attempt([] { delete new Own{1}; });
    attempt([] { delete new Wide; });
    attempt([] { delete[] new Wide[3]; });
    attempt([] { delete[] new (std::nothrow) char[huge]; });
    attempt([] { std::vector<Throws> many(3); });
    attempt([] { ::operator delete(::operator new(64, std::align_val_t(64)), 64, std::align_val_t(64)); });
    attempt([] { ::operator delete(::operator new(huge, std::align_val_t(64)), std::align_val_t(64)); });
  }
  Wide *volatile lost = new Wide;
  lost = nullptr;
  std::printf("%d %d\nleaked 256 1\n", caught, built);
}
