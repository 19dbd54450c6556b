// Keeps a block until its end, and loses another one.
#include <cstddef>
#include <cstring>

namespace {

char *volatile kept;

[[gnu::always_inline]] inline char *make(std::size_t bytes) { return new char[bytes]; } // made here

[[gnu::noinline]] char *grow(std::size_t bytes) {
  char *const block = make(bytes);
  std::memset(block, 1, bytes);
  return block;
}

[[gnu::noinline]] void lose() {
  char *volatile lost = grow(100'000);
  lost = nullptr;
}

} // namespace

int main() {
  kept = grow(3'000'000);
  lose();
  delete[] kept;
}
