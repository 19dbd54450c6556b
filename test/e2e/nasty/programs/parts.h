// Common declarations of the units of the link tests.
#pragma once
#include <cstddef>

struct Layer {
  float *output;
  Layer *next;
};
Layer *makeLayer(std::size_t size); // parts.cpp
void dropLayer(Layer *layer);
char *alike1(std::size_t size); // the same machine code
char *alike2(std::size_t size);
