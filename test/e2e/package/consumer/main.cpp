#include <cstdio>
#include <cstdlib>
#include <msleaks/api.h>

struct cache {
  float *rows;
};
extern "C" void fill(cache *);
int *make(int value);

int main() {
  static cache mine;
  msl_step(1);
  msl_mark("filling");
  fill(&mine);
  delete make(7);
  std::puts("consumer ran");
}
