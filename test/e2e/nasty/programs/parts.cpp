// Functions that link-time optimisation may inline or import, and that the linker may fold or drop. See parts_main.cpp.
#include "parts.h"

#include <cstdlib>

Layer *makeLayer(std::size_t size) {
  Layer *layer = new Layer{};
  layer->output = static_cast<float *>(std::calloc(size, sizeof(float)));
  return layer;
}

void dropLayer(Layer *layer) {
  std::free(layer->output);
  delete layer;
}

__attribute__((noinline)) char *alike1(std::size_t size) { return static_cast<char *>(std::malloc(size)); }
__attribute__((noinline)) char *alike2(std::size_t size) { return static_cast<char *>(std::malloc(size)); }

void *neverCalled(std::size_t size) { return std::malloc(size); } // --gc-sections removes it
