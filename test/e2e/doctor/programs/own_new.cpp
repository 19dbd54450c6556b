// The program defines its own operator new.
#include <cstdlib>
#include <new>

int *volatile block;

void *operator new(std::size_t bytes) { return std::malloc(bytes); }
void operator delete(void *address) noexcept { std::free(address); }
void operator delete(void *address, std::size_t) noexcept { std::free(address); }

int main() {
  block = new int;
  delete block;
}
