// Nasty: calls from this unit into parts.cpp. LTO removes the border between the units. Other links give two
// functions one body (ICF), drop unused sections (--gc-sections), or use a relocatable object or an archive.
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
