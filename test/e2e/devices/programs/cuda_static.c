// Calls CUDA's runtime library, which is linked statically and looks up the driver's functions. The
// number of bytes and the grid identify each call. With "mended" the program leaks nothing.
#include "cudart_static.h"

#include <stdio.h>
#include <string.h>

static int failures;

static void expect(int status, int wanted, const char *what) {
  if (status != wanted) {
    printf("%s: %d, not %d\n", what, status, wanted);
    ++failures;
  }
}

int main(int argc, char **argv) {
  enum { kToDevice = 1, kToHost = 2 };
  static char host[2000], back[2000];
  const dim3 grid = {7, 1, 1}, group = {32, 1, 1};
  void *block, *forgotten, *managed, *pinned, *later;
  memset(host, 5, sizeof host);
  expect(cudaMalloc(&block, 2001), 0, "block");
  expect(cudaMalloc(&forgotten, 2002), 0, "block"); // forgotten
  expect(cudaMallocManaged(&managed, 2003, 1), 0, "managed");
  expect(cudaMallocHost(&pinned, 2004), 0, "pinned");
  expect(cudaMalloc(&later, (size_t)1 << 40), 2, "too much");
  expect(cudaMallocAsync(&later, 2005, NULL), 0, "block of a stream");
  expect(cudaMemcpy(block, host, 1001, kToDevice), 0, "copy");
  expect(cudaMemcpyAsync(block, host, 1002, kToDevice, NULL), 0, "copy");
  expect(cudaMemset(block, 6, 500), 0, "fill");
  expect(cudaLaunchKernel(host, grid, group, NULL, 0, NULL), 0, "launch");
  expect(cudaMemcpy(back, block, 1003, kToHost), 0, "copy");
  printf("%d and %d\n", back[499], back[500]);
  expect(cudaFreeAsync(later, NULL), 0, "free");
  expect(cudaFreeHost(pinned), 0, "free");
  expect(cudaFree(managed), 0, "free");
  if (argc > 1 && strcmp(argv[1], "mended") == 0)
    expect(cudaFree(forgotten), 0, "free");
  expect(cudaFree(block), 0, "free");
  expect(cudaFree(block), 1, "free, once more");
  printf("%d failures\n", failures);
  return failures != 0;
}
