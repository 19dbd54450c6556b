#include <cstdio>
#include <cstdlib>

struct cache {
  float *rows;
};
extern "C" void fill(cache *);
int *make(int value);

int main() {
  static cache mine;
  fill(&mine);
  delete make(7);
  std::puts("consumer ran");
}
