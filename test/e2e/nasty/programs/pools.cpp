// Uses std::pmr pools, arenas on top of arenas, a stateful allocator and placement new. Deletes an object by
// a pointer to its base class, and an array of a class that defines its own operator new[].
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <memory_resource>
#include <new>
#include <string>
#include <vector>

struct Base {
  virtual ~Base() = default;
  static void *operator new[](std::size_t size) { return std::calloc(1, size); }
  static void operator delete[](void *block) { std::free(block); }
};
struct Derived : Base {
  std::string text = std::string(100, 'd');
};

int main() {
  std::size_t sum = 0;
  for (int round = 0; round < 20; ++round) {
    std::pmr::monotonic_buffer_resource arena(1000);
    std::pmr::unsynchronized_pool_resource pool(&arena);
    std::pmr::map<int, std::pmr::string> names(&pool);
    for (int i = 0; i < 100; ++i)
      names.emplace(i, std::pmr::string(i + 20, 'n'));
    std::pmr::list<std::pmr::vector<int>> lists(&pool);
    for (int i = 0; i < 50; ++i)
      lists.emplace_back(i, i);
    sum += names.size() + lists.size();
    Base *one = new Derived;
    delete one;
    Derived *many = new Derived[3];
    delete[] many;
    alignas(Derived) char room[sizeof(Derived)];
    Derived *placed = new (room) Derived;
    placed->~Derived();
  }
  std::printf("%zu\n", sum);
}
