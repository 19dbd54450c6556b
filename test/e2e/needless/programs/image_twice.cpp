// kind: copy
// saves: 16777216
// Modelled on CARTAvis/carta-backend, issue 62, "Backend memory usage when loading image". An image is loaded into an
// array, which is then copied into the cache. The mended program loads the image row by row into the cache.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

constexpr size_t kPixels = 4 << 20, kRow = 2048;

__attribute__((noinline)) static void readPixels(float *to, size_t first, size_t count) {
  for (size_t i = 0; i < count; ++i)
    to[i] = static_cast<float>((first + i) % 1000);
}

class Image {
public:
  __attribute__((noinline)) void load() {
#ifdef MENDED
    std::vector<float> row(kRow);
    cache_.resize(kPixels);
    for (size_t at = 0; at < kPixels; at += kRow) {
      readPixels(row.data(), at, kRow);
      std::copy(row.begin(), row.end(), cache_.begin() + static_cast<long>(at));
    }
#else
    const std::unique_ptr<float[]> array(new float[kPixels]);
    readPixels(array.get(), 0, kPixels);
    cache_.assign(array.get(), array.get() + kPixels); // guilty
#endif
  }
  double sum() const {
    double sum = 0;
    for (const float pixel : cache_)
      sum += pixel;
    return sum;
  }

private:
  std::vector<float> cache_;
};

int main() {
  Image image;
  image.load();
  std::printf("%g\n", image.sum());
}
