// Copies by each of CUDA's functions that make several copies in one
// call, and by those that copy volumes between devices. The sizes and
// the streams identify the copies.
#include <cuda_runtime_api.h>

#include <stdio.h>
#include <string.h>

struct Operand {
  int type; // 1 = address, 2 = array
  union {
    struct {
      void *at;
      size_t row, layer;
      int location[2];
    } pointer;
    struct {
      void *at;
      size_t offset[3];
    } array;
  };
};
struct Volume {
  struct Operand from, to;
  size_t width, height, depth;
  int order;
  unsigned flags;
};
struct PeerOfRuntime {
  void *from_array;
  size_t from_position[3];
  struct cudaPitchedPtr from;
  int from_device;
  void *to_array;
  size_t to_position[3];
  struct cudaPitchedPtr to;
  int to_device;
  struct cudaExtent extent;
};
struct PeerOfDriver {
  size_t from_x, from_y, from_z, from_level;
  int from_type;
  const void *from_host, *from;
  void *from_array, *from_context;
  size_t from_pitch, from_height, to_x, to_y, to_z, to_level;
  int to_type;
  void *to_host, *to, *to_array, *to_context;
  size_t to_pitch, to_height, width, height, depth;
};

// CUDA 12 has one more parameter here.
#if VERSION >= 13
#define AT_FAILURE
#define FAILURE
#else
#define AT_FAILURE size_t *,
#define FAILURE &failed,
#endif
#define LISTS void **, void **, size_t *, size_t, void *, size_t *, size_t
int cudaMemcpyBatchAsync(LISTS, AT_FAILURE void *stream);
int cudaMemcpyBatchAsync_ptsz(LISTS, AT_FAILURE void *stream);
int cudaMemcpy3DBatchAsync(size_t, struct Volume *, AT_FAILURE unsigned long long, void *stream);
int cudaMemcpy3DBatchAsync_ptsz(size_t, struct Volume *, AT_FAILURE unsigned long long, void *stream);
int cudaMemcpy3DPeer(const struct PeerOfRuntime *);
int cudaMemcpy3DPeer_ptds(const struct PeerOfRuntime *);
int cudaMemcpy3DPeerAsync(const struct PeerOfRuntime *, void *stream);
int cudaMemcpy3DPeerAsync_ptsz(const struct PeerOfRuntime *, void *stream);
int cuMemcpyBatchAsync(LISTS, size_t *, void *stream);
int cuMemcpyBatchAsync_ptsz(LISTS, size_t *, void *stream);
int cuMemcpyBatchAsync_v2(LISTS, void *stream);
int cuMemcpyBatchAsync_v2_ptsz(LISTS, void *stream);
int cuMemcpy3DBatchAsync(size_t, struct Volume *, size_t *, unsigned long long, void *stream);
int cuMemcpy3DBatchAsync_ptsz(size_t, struct Volume *, size_t *, unsigned long long, void *stream);
int cuMemcpy3DBatchAsync_v2(size_t, struct Volume *, unsigned long long, void *stream);
int cuMemcpy3DBatchAsync_v2_ptsz(size_t, struct Volume *, unsigned long long, void *stream);
int cuMemcpy3DPeer(const struct PeerOfDriver *);
int cuMemcpy3DPeer_ptds(const struct PeerOfDriver *);
int cuMemcpy3DPeerAsync(const struct PeerOfDriver *, void *stream);
int cuMemcpy3DPeerAsync_ptsz(const struct PeerOfDriver *, void *stream);
int cuMemcpyWithAttributesAsync(void *to, void *from, size_t bytes, void *, void *stream);
int cuMemcpy3DWithAttributesAsync(struct Volume *, unsigned long long, void *stream);
int cuMemcpyWithAttributesAsync_ptsz(void *to, void *from, size_t bytes, void *, void *stream);
int cuMemcpy3DWithAttributesAsync_ptsz(struct Volume *, unsigned long long, void *stream);
int cudaMemcpyWithAttributesAsync(void *to, void *from, size_t bytes, void *, void *stream);
int cudaMemcpy3DWithAttributesAsync(struct Volume *, unsigned long long, void *stream);
int cudaMemcpyWithAttributesAsync_ptsz(void *to, void *from, size_t bytes, void *, void *stream);
int cudaMemcpy3DWithAttributesAsync_ptsz(struct Volume *, unsigned long long, void *stream);

static void *first, *second;
static cudaArray_t array;
static size_t failed, *none;

static void expect(int status, int wanted, const char *what) {
  if (status != wanted)
    printf("%s: %d, not %d\n", what, status, wanted);
}

// Each batch copies `bytes` and then `bytes + 1` bytes.
static void *to[2], *from[2];
static size_t sizes[2];
static size_t *of(size_t bytes) {
  sizes[0] = bytes, sizes[1] = bytes + 1;
  return sizes;
}
// Copies to an array of 8 x 4 numbers of four bytes, and a volume of `width` x 2 x 3 bytes between addresses.
static struct Volume volumes[2];
static struct Volume *wide(size_t width) {
  memset(volumes, 0, sizeof volumes);
  volumes[0] = (struct Volume){.from = {1, {{first, 0, 0, {0, 0}}}}, .to.type = 2, .width = 8, .height = 4, .depth = 1};
  volumes[0].to.array.at = array;
  volumes[1] = (struct Volume){.from = {1, {{first, 0, 0, {0, 0}}}}, .to = {1, {{second, 0, 0, {0, 0}}}},
                               .width = width, .height = 2, .depth = 3};
  return volumes;
}
static const struct PeerOfRuntime *block(size_t width) {
  static struct PeerOfRuntime copy;
  copy = (struct PeerOfRuntime){.from = {first, width, width, 2}, .to = {second, width, width, 2},
                                .to_device = 1, .extent = {width, 2, 3}};
  return &copy;
}
static const struct PeerOfDriver *rows(size_t width) {
  static struct PeerOfDriver copy;
  copy = (struct PeerOfDriver){.from_type = 2, .from = first, .to_type = 2, .to = second,
                               .width = width, .height = 2, .depth = 3};
  return &copy;
}
static void *stream(unsigned long number) { return (void *)(number << 12); }

int main(void) {
  const struct cudaChannelFormatDesc number = {32, 0, 0, 0, 2};
  expect(cudaMalloc(&first, 4096), 0, "cudaMalloc");
  expect(cudaMalloc(&second, 4096), 0, "cudaMalloc");
  expect(cudaMallocArray(&array, &number, 8, 4, 0), 0, "cudaMallocArray");
  to[0] = to[1] = second, from[0] = from[1] = first;

#ifndef HIP
  expect(cuMemcpyBatchAsync(to, from, of(10), 2, NULL, none, 0, &failed, stream(1)), 0, "cuMemcpyBatchAsync");
  expect(cuMemcpyBatchAsync_ptsz(to, from, of(20), 2, NULL, none, 0, &failed, stream(2)), 0, "cuMemcpyBatchAsync_ptsz");
  expect(cuMemcpyBatchAsync_v2(to, from, of(30), 2, NULL, none, 0, stream(3)), 0, "cuMemcpyBatchAsync_v2");
  expect(cuMemcpyBatchAsync_v2_ptsz(to, from, of(40), 2, NULL, none, 0, stream(4)), 0, "cuMemcpyBatchAsync_v2_ptsz");
  expect(cuMemcpy3DBatchAsync(2, wide(10), &failed, 0, stream(5)), 0, "cuMemcpy3DBatchAsync");
  expect(cuMemcpy3DBatchAsync_ptsz(2, wide(20), &failed, 0, stream(6)), 0, "cuMemcpy3DBatchAsync_ptsz");
  expect(cuMemcpy3DBatchAsync_v2(2, wide(30), 0, stream(7)), 0, "cuMemcpy3DBatchAsync_v2");
  expect(cuMemcpy3DBatchAsync_v2_ptsz(2, wide(40), 0, stream(8)), 0, "cuMemcpy3DBatchAsync_v2_ptsz");
  expect(cuMemcpy3DPeer(rows(50)), 0, "cuMemcpy3DPeer");
  expect(cuMemcpy3DPeer_ptds(rows(60)), 0, "cuMemcpy3DPeer_ptds");
  expect(cuMemcpy3DPeerAsync(rows(70), stream(9)), 0, "cuMemcpy3DPeerAsync");
  expect(cuMemcpy3DPeerAsync_ptsz(rows(80), stream(10)), 0, "cuMemcpy3DPeerAsync_ptsz");
#endif

  expect(cudaMemcpyBatchAsync(to, from, of(50), 2, NULL, none, 0, FAILURE stream(11)), 0, "cudaMemcpyBatchAsync");
  expect(cudaMemcpy3DBatchAsync(2, wide(90), FAILURE 0, stream(12)), 0, "cudaMemcpy3DBatchAsync");
  expect(cudaMemcpy3DPeer(block(110)), 0, "cudaMemcpy3DPeer");
  expect(cudaMemcpy3DPeerAsync(block(120), stream(13)), 0, "cudaMemcpy3DPeerAsync");
#ifndef HIP
  expect(cudaMemcpyBatchAsync_ptsz(to, from, of(60), 2, NULL, none, 0, FAILURE stream(14)), 0,
         "cudaMemcpyBatchAsync_ptsz");
  expect(cudaMemcpy3DBatchAsync_ptsz(2, wide(100), FAILURE 0, stream(15)), 0, "cudaMemcpy3DBatchAsync_ptsz");
  expect(cudaMemcpy3DPeer_ptds(block(130)), 0, "cudaMemcpy3DPeer_ptds");
  expect(cudaMemcpy3DPeerAsync_ptsz(block(140), stream(16)), 0, "cudaMemcpy3DPeerAsync_ptsz");
#endif

#if VERSION >= 13
  expect(cuMemcpyWithAttributesAsync(second, first, 160, NULL, stream(20)), 0, "cuMemcpyWithAttributesAsync");
  expect(cuMemcpy3DWithAttributesAsync(wide(160) + 1, 0, stream(21)), 0,
         "cuMemcpy3DWithAttributesAsync");
  expect(cuMemcpyWithAttributesAsync_ptsz(second, first, 170, NULL, stream(22)), 0, "cuMemcpyWithAttributesAsync_ptsz");
  expect(cuMemcpy3DWithAttributesAsync_ptsz(wide(170) + 1, 0, stream(23)), 0,
         "cuMemcpy3DWithAttributesAsync_ptsz");
  expect(cudaMemcpyWithAttributesAsync(second, first, 180, NULL, stream(24)), 0, "cudaMemcpyWithAttributesAsync");
  expect(cudaMemcpy3DWithAttributesAsync(wide(180) + 1, 0, stream(25)), 0,
         "cudaMemcpy3DWithAttributesAsync");
  expect(cudaMemcpyWithAttributesAsync_ptsz(second, first, 190, NULL, stream(26)), 0, "cudaMemcpyWithAttributesAsync_ptsz");
  expect(cudaMemcpy3DWithAttributesAsync_ptsz(wide(190) + 1, 0, stream(27)), 0,
         "cudaMemcpy3DWithAttributesAsync_ptsz");
#endif
  sizes[0] = 70, sizes[1] = 0;
  expect(cudaMemcpyBatchAsync(to, from, sizes, 2, NULL, none, 0, FAILURE stream(17)), 1, "an empty copy");
  expect(cudaMemcpyBatchAsync(to, from, sizes, 0, NULL, none, 0, FAILURE stream(18)), 0, "no copies");
  expect(cudaFreeArray(array), 0, "cudaFreeArray");
  expect(cudaFree(first), 0, "cudaFree");
  expect(cudaFree(second), 0, "cudaFree");
  return 0;
}
