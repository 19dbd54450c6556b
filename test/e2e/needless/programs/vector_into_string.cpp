// kind: copy
// saves: 12000000
// Modelled on nianticlabs/spz, pull request 72, "Reduce unnecessary memory copies in load and save paths". A vector is
// copied into a string, and a function reads the string. With the change, the function reads the vector.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

__attribute__((noinline)) static std::vector<uint8_t> decompress(size_t size) {
  std::vector<uint8_t> data(size);
  for (size_t i = 0; i < size; ++i)
    data[i] = static_cast<uint8_t>(i * i);
  return data;
}

struct Cloud {
  std::vector<float> positions;
};

__attribute__((noinline)) static Cloud readCloud(const char *from, size_t size) {
  Cloud cloud;
  cloud.positions.resize(size / 8);
  for (size_t i = 0; i < cloud.positions.size(); ++i)
    cloud.positions[i] = from[2 * i];
  return cloud;
}

__attribute__((noinline)) static Cloud load(size_t size) {
  const std::vector<uint8_t> data = decompress(size);
#ifdef MENDED
  return readCloud(reinterpret_cast<const char *>(data.data()), data.size());
#else
  const std::string text(reinterpret_cast<const char *>(data.data()), data.size()); // guilty
  return readCloud(text.data(), text.size());
#endif
}

int main() {
  const Cloud cloud = load(12'000'000);
  double sum = 0;
  for (const float position : cloud.positions)
    sum += position;
  std::printf("%g\n", sum);
}
