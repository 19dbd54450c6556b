// Copies to and from arrays and symbols, by each function of CUDA and HIP that does this. The size identifies
// a pair of copies, into the array and back. Some calls are refused. Some functions get a structure that describes
// the copy. With "before6" (HIP only) the structures have the layout of HIP 5.
#include <cuda_runtime_api.h>

#include <stdio.h>
#include <string.h>

enum { kRows = 8, kWidth = 64, kPitch = 100 };
static unsigned char host[kRows * kPitch], back[kRows * kPitch], symbol[1024]; // the symbol is on the device
static cudaArray_t array, other;
static cudaStream_t stream;
static int failures;

static void expect(int status, int wanted, const char *what) {
  if (status != wanted) {
    printf("%s: %d, not %d\n", what, status, wanted);
    ++failures;
  }
}
#define DONE(call) expect((call), 0, #call)

// Checks that the bytes that were copied into the array and back are the same, in each row.
static void same(size_t bytes, size_t rows, const char *what) {
  for (size_t row = 0; row < rows; ++row)
    if (memcmp(host + row * kPitch, back + row * kPitch, bytes) != 0)
      expect(1, 0, what);
  memset(back, 0, sizeof back);
}
#define THERE_AND_BACK(bytes, rows, to, from)                                                                          \
  do {                                                                                                                 \
    DONE(to);                                                                                                          \
    DONE(from);                                                                                                        \
    DONE(cudaStreamSynchronize(stream));                                                                               \
    same(bytes, rows, #from);                                                                                          \
  } while (0)

#define TO cudaMemcpyHostToDevice
#define FROM cudaMemcpyDeviceToHost
#define WITHIN cudaMemcpyDeviceToDevice

// Declares the variants for the per-thread default stream.
cudaError_t cudaMemcpyFromArray_ptds(void *, cudaArray_const_t, size_t, size_t, size_t, enum cudaMemcpyKind);
cudaError_t cudaMemcpy2DToArray_ptds(cudaArray_t, size_t, size_t, const void *, size_t, size_t, size_t,
                                     enum cudaMemcpyKind);
cudaError_t cudaMemcpy2DToArrayAsync_ptsz(cudaArray_t, size_t, size_t, const void *, size_t, size_t, size_t,
                                          enum cudaMemcpyKind, cudaStream_t);
cudaError_t cudaMemcpy2DFromArray_ptds(void *, size_t, cudaArray_const_t, size_t, size_t, size_t, size_t,
                                       enum cudaMemcpyKind);
cudaError_t cudaMemcpy2DFromArrayAsync_ptsz(void *, size_t, cudaArray_const_t, size_t, size_t, size_t, size_t,
                                            enum cudaMemcpyKind, cudaStream_t);
cudaError_t cudaMemcpyToSymbol_ptds(const void *, const void *, size_t, size_t, enum cudaMemcpyKind);
cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void *, const void *, size_t, size_t, enum cudaMemcpyKind, cudaStream_t);
cudaError_t cudaMemcpyFromSymbol_ptds(void *, const void *, size_t, size_t, enum cudaMemcpyKind);
cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void *, const void *, size_t, size_t, enum cudaMemcpyKind, cudaStream_t);
#ifndef HIP
cudaError_t cudaMemcpyToArray_ptds(cudaArray_t, size_t, size_t, const void *, size_t, enum cudaMemcpyKind);
cudaError_t cudaMemcpyToArrayAsync_ptsz(cudaArray_t, size_t, size_t, const void *, size_t, enum cudaMemcpyKind,
                                        cudaStream_t);
cudaError_t cudaMemcpyFromArrayAsync_ptsz(void *, cudaArray_const_t, size_t, size_t, size_t, enum cudaMemcpyKind,
                                          cudaStream_t);
cudaError_t cudaMemcpyArrayToArray_ptds(cudaArray_t, size_t, size_t, cudaArray_const_t, size_t, size_t, size_t,
                                        enum cudaMemcpyKind);
cudaError_t cudaMemcpy2DArrayToArray_ptds(cudaArray_t, size_t, size_t, cudaArray_const_t, size_t, size_t, size_t,
                                          size_t, enum cudaMemcpyKind);
#endif

static void bytes(void) {
  THERE_AND_BACK(31, 1, cudaMemcpyToArray(array, 4, 1, host, 31, TO), cudaMemcpyFromArray(back, array, 4, 1, 31, FROM));
  THERE_AND_BACK(32, 1, cudaMemcpyToArray(array, 4, 1, host, 32, TO),
                 cudaMemcpyFromArray_ptds(back, array, 4, 1, 32, FROM));
#ifndef HIP
  THERE_AND_BACK(33, 1, cudaMemcpyToArray_ptds(array, 4, 1, host, 33, TO),
                 cudaMemcpyFromArrayAsync(back, array, 4, 1, 33, FROM, stream));
  THERE_AND_BACK(34, 1, cudaMemcpyToArrayAsync(array, 4, 1, host, 34, TO, stream),
                 cudaMemcpyFromArrayAsync_ptsz(back, array, 4, 1, 34, FROM, stream));
  DONE(cudaMemcpyToArrayAsync_ptsz(array, 4, 1, host, 35, TO, stream));
  DONE(cudaStreamSynchronize(stream));
  THERE_AND_BACK(35, 1, cudaMemcpyArrayToArray(other, 8, 2, array, 4, 1, 35, WITHIN),
                 cudaMemcpyFromArray(back, other, 8, 2, 35, FROM));
  THERE_AND_BACK(30, 1, cudaMemcpyArrayToArray_ptds(other, 12, 3, array, 4, 1, 30, WITHIN),
                 cudaMemcpyFromArray(back, other, 12, 3, 30, FROM));
#endif
}

static void rows(void) {
  THERE_AND_BACK(41, 3, cudaMemcpy2DToArray(array, 8, 2, host, kPitch, 41, 3, TO),
                 cudaMemcpy2DFromArray(back, kPitch, array, 8, 2, 41, 3, FROM));
  THERE_AND_BACK(42, 3, cudaMemcpy2DToArrayAsync(array, 8, 2, host, kPitch, 42, 3, TO, stream),
                 cudaMemcpy2DFromArrayAsync(back, kPitch, array, 8, 2, 42, 3, FROM, stream));
  THERE_AND_BACK(43, 3, cudaMemcpy2DToArray_ptds(array, 8, 2, host, kPitch, 43, 3, TO),
                 cudaMemcpy2DFromArray_ptds(back, kPitch, array, 8, 2, 43, 3, FROM));
  THERE_AND_BACK(44, 3, cudaMemcpy2DToArrayAsync_ptsz(array, 8, 2, host, kPitch, 44, 3, TO, stream),
                 cudaMemcpy2DFromArrayAsync_ptsz(back, kPitch, array, 8, 2, 44, 3, FROM, stream));
  THERE_AND_BACK(40, 3, cudaMemcpy2DArrayToArray(other, 4, 1, array, 8, 2, 40, 3, WITHIN),
                 cudaMemcpy2DFromArray(back, kPitch, other, 4, 1, 40, 3, FROM));
#ifndef HIP
  THERE_AND_BACK(39, 3, cudaMemcpy2DArrayToArray_ptds(other, 4, 4, array, 8, 2, 39, 3, WITHIN),
                 cudaMemcpy2DFromArray(back, kPitch, other, 4, 4, 39, 3, FROM));
#endif
}

static void symbols(void) {
  THERE_AND_BACK(51, 1, cudaMemcpyToSymbol(symbol, host, 51, 16, TO), cudaMemcpyFromSymbol(back, symbol, 51, 16, FROM));
  THERE_AND_BACK(52, 1, cudaMemcpyToSymbolAsync(symbol, host, 52, 16, TO, stream),
                 cudaMemcpyFromSymbolAsync(back, symbol, 52, 16, FROM, stream));
  THERE_AND_BACK(53, 1, cudaMemcpyToSymbol_ptds(symbol, host, 53, 16, TO),
                 cudaMemcpyFromSymbol_ptds(back, symbol, 53, 16, FROM));
  THERE_AND_BACK(54, 1, cudaMemcpyToSymbolAsync_ptsz(symbol, host, 54, 16, TO, stream),
                 cudaMemcpyFromSymbolAsync_ptsz(back, symbol, 54, 16, FROM, stream));
}

// Repeats declarations of cuda.h.
typedef unsigned long long CUdeviceptr;
typedef void *CUarray;
int cuMemcpyHtoA_v2(CUarray, size_t, const void *, size_t);
int cuMemcpyHtoAAsync_v2(CUarray, size_t, const void *, size_t, void *);
int cuMemcpyAtoH_v2(void *, CUarray, size_t, size_t);
int cuMemcpyAtoHAsync_v2(void *, CUarray, size_t, size_t, void *);
int cuMemcpyDtoA_v2(CUarray, size_t, CUdeviceptr, size_t);
int cuMemcpyAtoD_v2(CUdeviceptr, CUarray, size_t, size_t);
int cuMemcpyAtoA_v2(CUarray, size_t, CUarray, size_t, size_t);
#ifndef HIP
int cuMemcpyHtoA_v2_ptds(CUarray, size_t, const void *, size_t);
int cuMemcpyHtoAAsync_v2_ptsz(CUarray, size_t, const void *, size_t, void *);
int cuMemcpyAtoH_v2_ptds(void *, CUarray, size_t, size_t);
int cuMemcpyAtoHAsync_v2_ptsz(void *, CUarray, size_t, size_t, void *);
int cuMemcpyDtoA_v2_ptds(CUarray, size_t, CUdeviceptr, size_t);
int cuMemcpyAtoD_v2_ptds(CUdeviceptr, CUarray, size_t, size_t);
int cuMemcpyAtoA_v2_ptds(CUarray, size_t, CUarray, size_t, size_t);
#endif

static void driver(CUdeviceptr block) {
  THERE_AND_BACK(61, 1, cuMemcpyHtoA_v2(array, 8, host, 61), cuMemcpyAtoH_v2(back, array, 8, 61));
  THERE_AND_BACK(62, 1, cuMemcpyHtoAAsync_v2(array, 8, host, 62, stream),
                 cuMemcpyAtoHAsync_v2(back, array, 8, 62, stream));
  DONE(cuMemcpyAtoD_v2(block, array, 8, 60));
  DONE(cuMemcpyDtoA_v2(array, 16, block, 59));
  THERE_AND_BACK(58, 1, cuMemcpyAtoA_v2(other, 4, array, 16, 58), cuMemcpyAtoH_v2(back, other, 4, 58));
#ifndef HIP
  THERE_AND_BACK(65, 1, cuMemcpyHtoA_v2_ptds(array, 8, host, 65), cuMemcpyAtoH_v2_ptds(back, array, 8, 65));
  THERE_AND_BACK(66, 1, cuMemcpyHtoAAsync_v2_ptsz(array, 8, host, 66, stream),
                 cuMemcpyAtoHAsync_v2_ptsz(back, array, 8, 66, stream));
  DONE(cuMemcpyAtoD_v2_ptds(block, array, 8, 64));
  DONE(cuMemcpyDtoA_v2_ptds(array, 16, block, 63));
  THERE_AND_BACK(57, 1, cuMemcpyAtoA_v2_ptds(other, 4, array, 16, 57), cuMemcpyAtoH_v2(back, other, 4, 57));
#endif
}

// Declares a structure that describes a copy. A memory type selects host memory, device memory or an array.
#define COPY_2D(name)                                                                                                  \
  struct name {                                                                                                        \
    size_t srcXInBytes, srcY;                                                                                          \
    int srcMemoryType;                                                                                                 \
    const void *srcHost;                                                                                               \
    CUdeviceptr srcDevice;                                                                                             \
    CUarray srcArray;                                                                                                  \
    size_t srcPitch, dstXInBytes, dstY;                                                                                \
    int dstMemoryType;                                                                                                 \
    void *dstHost;                                                                                                     \
    CUdeviceptr dstDevice;                                                                                             \
    CUarray dstArray;                                                                                                  \
    size_t dstPitch, WidthInBytes, Height;                                                                             \
  }
#define COPY_3D(name, Number, ARRAY)                                                                                   \
  struct name {                                                                                                        \
    Number srcXInBytes, srcY, srcZ, srcLOD;                                                                            \
    int srcMemoryType;                                                                                                 \
    const void *srcHost;                                                                                               \
    CUdeviceptr srcDevice;                                                                                             \
    ARRAY(src)                                                                                                         \
    Number srcPitch, srcHeight, dstXInBytes, dstY, dstZ, dstLOD;                                                       \
    int dstMemoryType;                                                                                                 \
    void *dstHost;                                                                                                     \
    CUdeviceptr dstDevice;                                                                                             \
    ARRAY(dst)                                                                                                         \
    Number dstPitch, dstHeight, WidthInBytes, Height, Depth;                                                           \
  }
COPY_2D(Copy2D);
#ifdef HIP
#define HIP_ARRAY(end) CUarray end##Array;
COPY_3D(Copy3D, size_t, HIP_ARRAY);
COPY_3D(Before6, unsigned, HIP_ARRAY);
#define cuMemcpy2D_v2 hipMemcpyParam2D
#define cuMemcpy2DAsync_v2 hipMemcpyParam2DAsync
#define cuMemcpy2DUnaligned_v2 hipDrvMemcpy2DUnaligned
#define cuMemcpy3D_v2 hipDrvMemcpy3D
#define cuMemcpy3DAsync_v2 hipDrvMemcpy3DAsync
#else
#define CUDA_ARRAY(end) CUarray end##Array, end##Reserved;
COPY_3D(Copy3D, size_t, CUDA_ARRAY);
#endif
int cuMemcpy2D_v2(const struct Copy2D *);
int cuMemcpy2DAsync_v2(const struct Copy2D *, void *);
int cuMemcpy2DUnaligned_v2(const struct Copy2D *);
int cuMemcpy3D_v2(const void *);
int cuMemcpy3DAsync_v2(const void *, void *);

enum Kind { kHost, kDevice, kArray };

static void described(const int *types, CUdeviceptr block) {
  struct Copy2D to = {.srcMemoryType = types[kHost],
                      .srcHost = host,
                      .srcPitch = kPitch,
                      .WidthInBytes = 71,
                      .dstMemoryType = types[kArray],
                      .dstArray = array,
                      .Height = 3,
                      .dstDevice = 8};
  struct Copy2D from = {.srcMemoryType = types[kArray],
                        .srcArray = array,
                        .dstMemoryType = types[kHost],
                        .dstHost = back,
                        .dstPitch = kPitch,
                        .WidthInBytes = 71,
                        .Height = 3,
                        .srcDevice = 8};
  THERE_AND_BACK(71, 3, cuMemcpy2D_v2(&to), cuMemcpy2D_v2(&from));
  to.WidthInBytes = from.WidthInBytes = 72;
  THERE_AND_BACK(72, 3, cuMemcpy2DAsync_v2(&to, stream), cuMemcpy2DAsync_v2(&from, stream));
  to.dstMemoryType = from.srcMemoryType = types[kDevice];
  to.dstDevice = from.srcDevice = block;
  to.dstPitch = from.srcPitch = kPitch;
  to.WidthInBytes = from.WidthInBytes = 73;
  THERE_AND_BACK(73, 3, cuMemcpy2DUnaligned_v2(&to), cuMemcpy2DUnaligned_v2(&from));
  expect(cuMemcpy2D_v2(NULL), 1, "no copy");
}

#define VOLUMES(Type, width)                                                                                           \
  do {                                                                                                                 \
    struct Type to = {.srcMemoryType = types[kHost],                                                                   \
                      .srcHost = host,                                                                                 \
                      .srcPitch = kPitch,                                                                              \
                      .dstPitch = kPitch,                                                                              \
                      .dstMemoryType = types[kDevice],                                                                 \
                      .dstDevice = block,                                                                              \
                      .WidthInBytes = width,                                                                           \
                      .Height = 2,                                                                                     \
                      .Depth = 3};                                                                                     \
    struct Type from = {.srcMemoryType = types[kDevice],                                                               \
                        .srcDevice = block,                                                                            \
                        .srcPitch = kPitch,                                                                            \
                        .dstPitch = kPitch,                                                                            \
                        .dstMemoryType = types[kHost],                                                                 \
                        .dstHost = back,                                                                               \
                        .WidthInBytes = width,                                                                         \
                        .Height = 2,                                                                                   \
                        .Depth = 3};                                                                                   \
    THERE_AND_BACK(width, 6, cuMemcpy3D_v2(&to), cuMemcpy3DAsync_v2(&from, stream));                                   \
    to.dstMemoryType = from.srcMemoryType = types[kArray];                                                             \
    to.dstArray = from.srcArray = array;                                                                               \
    THERE_AND_BACK(width, 6, cuMemcpy3DAsync_v2(&to, stream), cuMemcpy3D_v2(&from));                                   \
    expect(cuMemcpy3D_v2(NULL), 1, "no copy");                                                                         \
  } while (0)

static void refused(void) {
  expect(cudaMemcpyToArray(NULL, 0, 0, host, 81, TO), cudaErrorInvalidValue, "to no array");
  expect(cudaMemcpy2DFromArray(back, 8, array, 0, 0, 82, 1, FROM), cudaErrorInvalidValue, "rows that overlap");
  expect(cudaMemcpyToSymbol(NULL, host, 83, 0, TO), cudaErrorInvalidSymbol, "to no symbol");
  cudaGetLastError();
}

int main(int count, char **words) {
  const int is_before6 = count > 1 && strcmp(words[1], "before6") == 0;
  const struct cudaChannelFormatDesc number = {32, 0, 0, 0, 2};
#ifdef HIP
  const int types[] = {is_before6 ? 0 : 1, is_before6 ? 1 : 2, is_before6 ? 2 : 10};
#else
  const int types[] = {1, 2, 3};
#endif
  void *memory;
  for (unsigned i = 0; i < sizeof host; ++i)
    host[i] = (unsigned char)(7 * i + i / 256);
  DONE(cudaStreamCreate(&stream));
  DONE(cudaMallocArray(&array, &number, kWidth / 4, kRows, 0));
  DONE(cudaMallocArray(&other, &number, kWidth / 4, kRows, 0));
  DONE(cudaMalloc(&memory, sizeof host));
  const CUdeviceptr block = (CUdeviceptr)(size_t)memory;
  bytes();
  rows();
  symbols();
  driver(block);
  described(types, block);
#ifdef HIP
  if (is_before6)
    VOLUMES(Before6, 75);
  else
#endif
    VOLUMES(Copy3D, 74);
  refused();
  DONE(cudaFree(memory));
  DONE(cudaFreeArray(other));
  DONE(cudaFreeArray(array));
  DONE(cudaStreamDestroy(stream));
  printf("%d failures\n", failures);
  return failures != 0;
}
