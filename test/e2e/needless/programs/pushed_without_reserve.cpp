// kind: capacity
// saves: 13500000
// Modelled on CARTAvis/carta-backend, pull request 85, "Reserve memory for vectors before pushing data of known total
// size". The vector doubles until it has much more room than it needs. The change reserves the known size.
#include <cstdint>
#include <cstdio>
#include <vector>

__attribute__((noinline)) static std::vector<int32_t> readSlice(size_t count) {
  std::vector<int32_t> values;
#ifdef MENDED
  values.reserve(count);
#endif
  for (size_t i = 0; i < count; ++i)
    values.push_back(static_cast<int32_t>(i * 7)); // guilty
  return values;
}

int main() {
  const std::vector<int32_t> values = readSlice(5'000'000); // the vector has room for 8,388,608 values
  long sum = 0;
  for (const int32_t value : values)
    sum += value;
  std::printf("%ld\n", sum);
}
