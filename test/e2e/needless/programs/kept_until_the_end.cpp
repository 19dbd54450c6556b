// kind: copy
// saves: 16000000
// Modelled on milvus, pull request 43533, "greatly reduce the loading memory overhead". The parts of an index are
// joined into one block, but stay allocated until the index is complete. The change frees each part when it is joined.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

using Bytes = std::vector<uint8_t>;

__attribute__((noinline)) static std::vector<Bytes> download(size_t parts, size_t size) {
  std::vector<Bytes> all;
  for (size_t part = 0; part < parts; ++part)
    all.emplace_back(size, static_cast<uint8_t>(part + 1));
  return all;
}

__attribute__((noinline)) static std::unique_ptr<uint8_t[]> join(std::vector<Bytes> &parts, size_t size) {
  std::unique_ptr<uint8_t[]> whole(new uint8_t[parts.size() * size]); // guilty
  for (size_t part = 0; part < parts.size(); ++part) {
    memcpy(&whole[part * size], parts[part].data(), size);
#ifdef MENDED
    parts[part] = Bytes();
#endif
  }
  return whole;
}

__attribute__((noinline)) static std::vector<uint32_t> build(const uint8_t *whole, size_t size) {
  std::vector<uint32_t> index(size / 4);
  for (size_t i = 0; i < index.size(); ++i)
    index[i] = whole[4 * i] + 1u;
  return index;
}

int main() {
  constexpr size_t kParts = 8, kSize = 2'000'000;
  std::vector<Bytes> parts = download(kParts, kSize);
  const std::unique_ptr<uint8_t[]> whole = join(parts, kSize);
  const std::vector<uint32_t> index = build(whole.get(), kParts * kSize);
  unsigned long sum = 0;
  for (const uint32_t value : index)
    sum += value;
  std::printf("%lu\n", sum);
}
