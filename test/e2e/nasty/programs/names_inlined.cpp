// Makes allocations that the optimiser inlines into callers with destructors. In these callers the call becomes an
// invoke, without metadata. The report must still have variables and types, and must leave out ignored functions.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

static int destroyed;
struct Guard {
  __attribute__((noinline)) ~Guard() { ++destroyed; }
};
struct Foo {
  int numbers[4];
};
__attribute__((noinline)) void use(void *block) {
  if (!block)
    throw 1;
}
static inline Foo *make() {
  Foo *made = new Foo;
  return made;
}
__attribute__((noinline)) void plainly() {
  Foo *first = make();
  use(first);
}
__attribute__((noinline)) void guarded() {
  Guard guard;
  Foo *mine = make();
  use(mine);
}
__attribute__((noinline)) void values(int count) {
  Guard guard;
  auto *many = new std::vector<float>(count);
  use(many);
}
__attribute__((annotate("msleaks.ignore"))) static inline int *quiet() { return new int; }
__attribute__((noinline)) void ignored() {
  Guard guard;
  use(quiet());
}

int main() {
  plainly();
  guarded();
  values(100);
  ignored();
  std::printf("%d\nleaked %zu 5\n", destroyed, 2 * sizeof(Foo) + sizeof(std::vector<float>) + 400 + sizeof(int));
}
