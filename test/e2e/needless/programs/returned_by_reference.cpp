// kind: copy
// saves: 16777216
// Modelled on fheroes2, pull request 5150, "Remove memory copy while reading data from AGG file". A function binds the
// vector that it has read to a const reference. The return from this reference copies the vector. With the change, the
// vector is a local variable, and the return makes no copy.
#include <cstdint>
#include <cstdio>
#include <vector>

class Archive {
public:
  explicit Archive(uint8_t seed) : seed_(seed) {}
  __attribute__((noinline)) std::vector<uint8_t> read(size_t size) const {
    std::vector<uint8_t> bytes(size);
    for (size_t i = 0; i < size; ++i)
      bytes[i] = static_cast<uint8_t>(seed_ + i);
    return bytes;
  }

private:
  uint8_t seed_;
};

__attribute__((noinline)) static std::vector<uint8_t> readChunk(const Archive &archive, size_t size) {
#ifdef MENDED
  std::vector<uint8_t> bytes = archive.read(size);
#else
  const std::vector<uint8_t> &bytes = archive.read(size);
#endif
  return bytes; // guilty
}

int main(int argc, char **) {
  const Archive archive(static_cast<uint8_t>(argc));
  const std::vector<uint8_t> chunk = readChunk(archive, 16 << 20);
  unsigned long sum = 0;
  for (const uint8_t byte : chunk)
    sum += byte;
  std::printf("%lu\n", sum);
}
