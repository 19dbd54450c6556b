// Allocates CUDA memory by functions without a plain size or device parameter: physical memory of
// the driver, arrays, and rows with a pitch. Also launches graphs. With "mended" it leaks nothing.
#include <cuda_runtime_api.h>

#include <stdio.h>
#include <string.h>

// Repeats declarations of cuda.h.
struct Property {
  int type, handle_types, place, device;
  unsigned char rest[16];
};
int cuMemCreate(unsigned long long *handle, size_t bytes, const struct Property *property, unsigned long long flags);
int cuMemRelease(unsigned long long handle);
struct array {
  size_t width, height;
  int format;
  unsigned channels;
};
struct array3d {
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
int cuArrayCreate_v2(void **array, const struct array *how);
int cuArray3DCreate_v2(void **array, const struct array3d *how);
int cuMipmappedArrayCreate(void **array, const struct array3d *how, unsigned levels);
int cuArrayDestroy(void *array);
int cuMipmappedArrayDestroy(void *array);
int cuGraphLaunch(void *graph, void *stream);
#ifndef HIP
int cuGraphLaunch_ptsz(void *graph, void *stream);
int cudaGraphLaunch_ptsz(void *graph, void *stream);
#endif

static int mended;

static void expect(int status, int wanted, const char *what) {
  if (status != wanted)
    printf("%s: %d, not %d\n", what, status, wanted);
}

static void use_physical(void) {
  const struct Property on_device = {1, 0, 1, 1, {0}}, on_host = {1, 0, 2, 0, {0}}, nowhere = {1, 0, 1, 7, {0}};
  unsigned long long kept, forgotten, host;
  expect(cuMemCreate(&kept, 2 << 20, &on_device, 0), 0, "physical");
  expect(cuMemCreate(&forgotten, 1 << 20, &on_device, 0), 0, "physical"); // forgotten
  expect(cuMemCreate(&host, 4096, &on_host, 0), 0, "physical of the host");
  expect(cuMemCreate(&host, 4096, &nowhere, 0), 1, "physical of no device");
  expect(cuMemCreate(&host, (size_t)1 << 40, &on_device, 0), 2, "too much");
  expect(cuMemRelease(host), 0, "release");
  expect(cuMemRelease(kept), 0, "release");
  expect(cuMemRelease(kept), 1, "second release");
  if (mended)
    expect(cuMemRelease(forgotten), 0, "release");
}

static void use_arrays(void) {
  const struct cudaChannelFormatDesc rgba = {8, 8, 8, 8, 1}, number = {32, 0, 0, 0, 2};
  cudaArray_t image, line, volume;
  expect(cudaMallocArray(&image, &rgba, 64, 32, 0), 0, "image");
  expect(cudaMallocArray(&line, &number, 100, 0, 0), 0, "line");
  expect(cudaMalloc3DArray(&volume, &number, (struct cudaExtent){10, 10, 10}, 0), 0, "volume");
  expect(cudaFreeArray(image), 0, "free");
  expect(cudaFreeArray(line), 0, "free");
  expect(cudaFreeArray(volume), 0, "free");
  cudaMipmappedArray_t smaller;
  expect(cudaMallocMipmappedArray(&smaller, &number, (struct cudaExtent){8, 8, 0}, 9, 0), 0, "levels"); // has 4 levels
  expect(cudaFreeMipmappedArray(smaller), 0, "free");
}

static void use_arrays_of_driver(void) {
  const struct array image = {64, 32, 0x10, 4};
  const struct array3d volume = {10, 8, 6, 0x20, 1, 0}, levels = {16, 4, 0, 1, 1, 0};
  void *array;
  expect(cuArrayCreate_v2(&array, &image), 0, "image");
  expect(cuArrayDestroy(array), 0, "free");
  expect(cuArray3DCreate_v2(&array, &volume), 0, "volume");
  expect(cuArrayDestroy(array), 0, "free");
  expect(cuMipmappedArrayCreate(&array, &levels, 3), 0, "levels"); // has 64 + 16 + 4 elements
  expect(cuMipmappedArrayDestroy(array), 0, "free");
}

static void use_rows(void) {
  static char host[100 * 20], back[100 * 20];
  struct cudaPitchedPtr block;
  memset(host, 7, sizeof host);
  expect(cudaMalloc3D(&block, (struct cudaExtent){100, 20, 1}), 0, "rows");
  expect(cudaMemcpy2D(block.ptr, block.pitch, host, 100, 100, 20, cudaMemcpyHostToDevice), 0, "copy of rows");
  expect(cudaMemcpy2DAsync(back, 100, block.ptr, block.pitch, 100, 20, cudaMemcpyDeviceToHost, NULL), 0, "copy back");
  expect(cudaMemcpy2D(back, 50, block.ptr, block.pitch, 100, 20, cudaMemcpyDeviceToHost), cudaErrorInvalidValue,
         "copy that overlaps");
  printf("rows are %s\n", memcmp(host, back, sizeof host) == 0 ? "the same" : "others");
  expect(cudaFree(block.ptr), 0, "free");
}

int main(int count, char **arguments) {
  static int graph;
  mended = count > 1 && strcmp(arguments[1], "mended") == 0;
  use_physical();
  use_arrays();
  use_arrays_of_driver();
  use_rows();
  expect(cudaGraphLaunch((cudaGraphExec_t)&graph, NULL), 0, "graph");
  expect(cuGraphLaunch(&graph, NULL), 0, "graph");
  expect(cuGraphLaunch(NULL, NULL), 1, "no graph");
#ifndef HIP
  expect(cudaGraphLaunch_ptsz(&graph, NULL), 0, "graph");
  expect(cuGraphLaunch_ptsz(&graph, NULL), 0, "graph");
#endif
  return 0;
}
