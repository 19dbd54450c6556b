#include <cstdio>
#include <cstdlib>

struct cache {
  float *rows;
};
extern "C" void fill(cache *);

int main() {
  static cache mine;
  fill(&mine);
  delete new int(7);
  std::puts("consumer ran");
}
