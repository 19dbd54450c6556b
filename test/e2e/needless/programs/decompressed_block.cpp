// kind: copy
// saves: 20000000
// Modelled on Mojang/leveldb-mcpe, pull request 29, "Remove duplication of decompressed buffer". A block is
// decompressed into a string, and then copied into an array that the result keeps. With the change, the result keeps
// the string.
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

__attribute__((noinline)) static void decompress(std::string &buffer, size_t size) {
  buffer.resize(size);
  for (size_t i = 0; i < size; ++i)
    buffer[i] = static_cast<char>('a' + i % 23);
}

struct Block {
  std::unique_ptr<char[]> array;
  std::unique_ptr<std::string> text;
  const char *data = nullptr;
  size_t size = 0;
};

__attribute__((noinline)) static Block readBlock(size_t size) {
  Block block;
  block.size = size;
#ifdef MENDED
  block.text = std::make_unique<std::string>();
  decompress(*block.text, size);
  block.data = block.text->data();
#else
  std::string buffer;
  decompress(buffer, size);
  block.array.reset(new char[size]); // guilty
  memcpy(block.array.get(), buffer.data(), size);
  block.data = block.array.get();
#endif
  return block;
}

int main(int argc, char **) {
  const Block block = readBlock(20'000'000 - 1 + static_cast<size_t>(argc));
  unsigned long sum = 0;
  for (size_t i = 0; i < block.size; ++i)
    sum += static_cast<unsigned char>(block.data[i]);
  std::printf("%lu\n", sum);
}
