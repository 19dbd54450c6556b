// Allocates in each way of malloc's interface, in two threads, and prints the sum of its bytes. It keeps 1,000 blocks
// of 5,000 bytes, and one block of each of the other ways.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <thread>
#include <vector>

static std::vector<void *> kept(1024);

static void *keep(void *block, size_t size, size_t at) {
  std::memset(block, 1, size);
  return kept[at] = block;
}

static void keepMany() {
  for (size_t i = 0; i < 1000; ++i)
    keep(std::malloc(5000), 5000, i); // many
}

static void freeMany() {
  for (size_t i = 0; i < 1000; ++i)
    std::free(std::malloc(70000 + i)); // freed
}

int main() {
  std::thread thread(freeMany);
  keepMany();
  keep(std::calloc(3, 1001), 3003, 1000);                          // calloc
  keep(std::realloc(std::malloc(100), 300007), 300007, 1001);      // realloc
  keep(aligned_alloc(256, 4096), 4096, 1002);                      // aligned_alloc
  keep(memalign(64, 777), 777, 1003);                              // memalign
  keep(new char[888], 888, 1004);                                  // new
  keep(::operator new(999, std::align_val_t{128}), 999, 1005);     // aligned new
  keep(strdup("a text that is copied by the C library"), 1, 1006); // strdup
  void *block = nullptr;
  if (posix_memalign(&block, 4096, 8192) == 0) // posix_memalign
    keep(block, 8192, 1007);
  thread.join();
  size_t usable = 0;
  for (void *each : kept)
    usable += each ? malloc_usable_size(each) : 0;
  std::puts(usable >= 5000 * 1000 + 3003 + 300007 + 4096 + 777 + 888 + 999 + 39 + 8192 ? "kept" : "wrong sizes");
}
