// Declares the functions of parts.cpp, for programs that are linked in different ways.
#pragma once
#include <cstddef>

struct Layer {
  float *output;
  Layer *next;
};
Layer *makeLayer(std::size_t size);
void dropLayer(Layer *layer);
char *alike1(std::size_t size); // alike1 and alike2 have the same machine code
char *alike2(std::size_t size);
