// Throws exceptions in constructors that have already allocated, and in a loop. Stores an exception in the heap.
#include <exception>
#include <stdexcept>
#include <vector>

struct Layer {
  std::vector<float> weights;
  float *workspace;
  explicit Layer(int size) : weights(size), workspace(new float[size]) {
    if (size % 3 == 0)
      throw std::invalid_argument("a layer of this size cannot be made"); // leaks the workspace
  }
  ~Layer() { delete[] workspace; }
};

std::exception_ptr *volatile kept;
std::vector<char> *volatile longer_than_possible;

int main() {
  int made = 0;
  for (int size = 1000; size < 1020; ++size) {
    try {
      Layer layer(size);
      ++made;
    } catch (const std::exception &) {
    }
  }
  try {
    longer_than_possible = new std::vector<char>(static_cast<size_t>(-1)); // the exception frees the vector object
  } catch (const std::length_error &) {
  }
  try {
    throw std::runtime_error("kept");
  } catch (...) {
    kept = new std::exception_ptr(std::current_exception());
  }
  return made == 14 ? 0 : 1;
}
