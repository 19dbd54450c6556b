// Calls the functions of parts.cpp. The test links both files in several ways: with LTO, through an archive, with equal
// functions folded into one (ICF), or without unused sections (--gc-sections).
#include "parts.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

Layer *volatile lost;

int main() {
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) {
    Layer *layer = makeLayer(i + 1);
    names.push_back(std::string(30 + i, 'n'));
    dropLayer(layer);
  }
  for (int i = 0; i < 3; ++i) {
    std::free(alike1(10));
    char *volatile kept = alike2(20);
  }
  lost = makeLayer(25);
  lost = nullptr;
  std::printf("%zu\nleaked %zu 5\n", names.size(), 60 + 100 + sizeof(Layer));
}
