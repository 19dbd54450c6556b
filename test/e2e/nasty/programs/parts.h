// Common declarations of the link tests.
#pragma once
#include <cstddef>

struct Layer {
  float *output;
  Layer *next;
};
Layer *makeLayer(std::size_t size); // in parts.cpp
void dropLayer(Layer *layer);
char *alike1(std::size_t size); // both have the same machine code
char *alike2(std::size_t size);
