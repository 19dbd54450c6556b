// Maps physical memory of CUDA's driver. Like PyTorch's expandable segments, it releases
// some handles after the unmapping. It releases other handles right after the mapping, so
// that only the mapping keeps the memory. With "mended" it leaks nothing.
#include <cuda_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Repeats declarations of cuda.h.
typedef unsigned long long Handle;
struct Property {
  int type, handle_types, place, device;
  unsigned char rest[16];
};
int cuMemCreate(Handle *handle, size_t bytes, const struct Property *property, unsigned long long flags);
int cuMemRelease(Handle handle);
int cuMemImportFromShareableHandle(Handle *handle, void *from, int type);
int cuMemRetainAllocationHandle(Handle *handle, void *address);
int cuMemAddressReserve(unsigned long long *address, size_t bytes, size_t alignment, unsigned long long wished,
                        unsigned long long flags);
int cuMemAddressFree(unsigned long long address, size_t bytes);
int cuMemMap(unsigned long long address, size_t bytes, size_t offset, Handle handle, unsigned long long flags);
int cuMemSetAccess(unsigned long long address, size_t bytes, const void *who, size_t count);
int cuMemUnmap(unsigned long long address, size_t bytes);

enum { kSegment = 2 << 20, kSegments = 8 };
static const struct Property on_device = {1, 0, 1, 1, {0}};
static unsigned long long base;

static void expect(int status, int wanted, const char *what) {
  if (status != wanted)
    printf("%s: %d, not %d\n", what, status, wanted);
}

static unsigned long long segment(int number) { return base + (unsigned long long)number * kSegment; }
static void *pointer(unsigned long long address) { return (void *)(size_t)address; }

static void expandable(char *host) {
  Handle handles[2];
  for (int i = 0; i < 2; ++i) {
    expect(cuMemCreate(&handles[i], kSegment, &on_device, 0), 0, "segment"); // a segment
    expect(cuMemMap(segment(i), kSegment, 0, handles[i], 0), 0, "map");
  }
  expect(cuMemSetAccess(base, 2 * kSegment, NULL, 0), 0, "access");
  expect(cudaMemcpy(pointer(segment(0)), host, 2 * kSegment, cudaMemcpyHostToDevice), 0, "copy over both");
  static char *volatile more; // this block makes the peak of host memory, while the device memory is mapped
  more = malloc(kSegment);
  free(more);
  memset(host, 0, 16);
  expect(cudaMemcpy(host, pointer(segment(1) - 8), 16, cudaMemcpyDeviceToHost), 0, "copy back");
  printf("read %d %d\n", host[0], host[15]);
  expect(cuMemUnmap(segment(0), kSegment / 2), 1, "unmap of a half");
  for (int i = 0; i < 2; ++i) {
    expect(cuMemUnmap(segment(i), kSegment), 0, "unmap");
    expect(cuMemRelease(handles[i]), 0, "release");
    expect(cuMemRelease(handles[i]), 1, "second release");
  }
}

static void released_at_once(int mended) {
  Handle handle, again;
  for (int i = 2; i < 4; ++i) {
    expect(cuMemCreate(&handle, kSegment, &on_device, 0), 0, "block"); // released right after the mapping
    expect(cuMemMap(segment(i), kSegment, 0, handle, 0), 0, "map");
    expect(cuMemRelease(handle), 0, "release");
    expect(cuMemRelease(handle), 1, "second release");
  }
  expect(cudaMemset(pointer(segment(3)), 5, kSegment), 0, "fill");
  expect(cuMemRetainAllocationHandle(&again, pointer(segment(3))), 0, "its handle");
  expect(cuMemUnmap(segment(2), 2 * kSegment), 0, "unmap of both");
  expect(cuMemRelease(again), 0, "release of what is not mapped any more");
  expect(cuMemCreate(&handle, kSegment, &on_device, 0), 0, "block"); // forgotten
  expect(cuMemMap(segment(4), kSegment, 0, handle, 0), 0, "map");
  expect(cuMemRelease(handle), 0, "release");
  if (mended)
    expect(cuMemUnmap(segment(4), kSegment), 0, "unmap");
}

// Maps host memory, and memory that another process allocated. Neither is memory of a device that this program
// allocated.
static void of_others(void) {
  static const struct Property on_host = {1, 0, 2, 0, {0}}, on_node = {1, 0, 3, 1, {0}};
  Handle handles[2], again, kept;
  expect(cuMemCreate(&handles[0], kSegment, &on_host, 0), 0, "block of the host");
  expect(cuMemImportFromShareableHandle(&handles[1], pointer(kSegment), 1), 0, "another's block"); // imported
  for (int i = 0; i < 2; ++i) {
    expect(cuMemMap(segment(i), kSegment, 0, handles[i], 0), 0, "map");
    expect(cuMemRelease(handles[i]), 0, "release");
    expect(cudaMemset(pointer(segment(i)), 5, kSegment), 0, "fill");
    expect(cuMemRetainAllocationHandle(&again, pointer(segment(i))), 0, "its handle");
    expect(cuMemUnmap(segment(i), kSegment), 0, "unmap");
    expect(cuMemRelease(again), 0, "release of what is not mapped any more");
  }
  expect(cuMemImportFromShareableHandle(&kept, pointer(kSegment), 1), 0, "another's block"); // never mapped
  expect(cuMemCreate(&kept, kSegment / 2, &on_node, 0), 0, "block of a node");               // kept on the host
}

#ifndef HIP
int cuMulticastCreate(Handle *object, const void *property);
int cuMulticastBindMem(Handle object, size_t offset, Handle memory, size_t from, size_t bytes,
                       unsigned long long flags);
int cuMulticastUnbind(Handle object, int device, size_t offset, size_t bytes);

// Binds a block of each device to an object, and copies to the object.
static void multicast(void) {
  static const struct Property on_first = {1, 0, 1, 0, {0}};
  const size_t property[] = {2, kSegment, 0, 0};
  Handle object, handles[2];
  char *const host = malloc(kSegment);
  memset(host, 7, kSegment);
  expect(cuMulticastCreate(&object, property), 0, "object");
  expect(cuMemCreate(&handles[0], kSegment, &on_first, 0), 0, "block of the first device"); // bound
  expect(cuMemCreate(&handles[1], kSegment, &on_device, 0), 0, "block of the second device");
  for (int i = 0; i < 2; ++i)
    expect(cuMulticastBindMem(object, 0, handles[i], 0, kSegment, 0), 0, "bind");
  expect(cuMulticastBindMem(object, 0, 12345, 0, kSegment, 0), 1, "bind of nothing");
  expect(cuMemMap(segment(0), kSegment, 0, object, 0), 0, "map");
  expect(cudaMemcpy(pointer(segment(0)), host, kSegment, cudaMemcpyHostToDevice), 0, "copy to both");
  static char *volatile more; // makes the peak of host memory, while the copy exists
  more = malloc(2 * kSegment);
  free(more);
  expect(cuMemUnmap(segment(0), kSegment), 0, "unmap");
  for (int i = 0; i < 2; ++i) {
    expect(cuMulticastUnbind(object, i, 0, kSegment), 0, "unbind");
    expect(cuMemRelease(handles[i]), 0, "release");
  }
  expect(cuMemRelease(object), 0, "end of the object");
  free(host);
}
#endif

int main(int argc, char **argv) {
  const int has_others = argc > 1 && strcmp(argv[1], "others") == 0;
  char *host = malloc(2 * kSegment);
  memset(host, 7, 2 * kSegment);
  expect(cuMemAddressReserve(&base, kSegments * kSegment, 0, 0, 0), 0, "addresses");
  if (has_others) {
    of_others();
#ifndef HIP
  } else if (argc > 1 && strcmp(argv[1], "multicast") == 0) {
    multicast();
#endif
  } else {
    expandable(host);
    released_at_once(argc > 1 && strcmp(argv[1], "mended") == 0);
  }
  if (argc > 1)
    expect(cuMemAddressFree(base, kSegments * kSegment), 0, "end of the addresses");
  free(host);
  puts("done");
  return 0;
}
