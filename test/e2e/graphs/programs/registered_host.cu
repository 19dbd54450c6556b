// Launches kernels by <<<>>>, as HIP programs do. Clang makes stubs, and a constructor that registers the stubs
// and the device's binary, which modules_test.py selects.   registered_host LAUNCHES
#include <stdio.h>
#include <stdlib.h>

typedef void *hipStream_t;
typedef int hipError_t;
struct dim3 {
  unsigned x, y, z;
  dim3(unsigned to_x, unsigned to_y = 1, unsigned to_z = 1) : x(to_x), y(to_y), z(to_z) {}
};
extern "C" {
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, hipStream_t stream = nullptr);
hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, hipStream_t *stream);
hipError_t hipLaunchKernel(const void *stub, dim3 grid, dim3 block, void **arguments, size_t shared, hipStream_t);
hipError_t hipMalloc(void **, size_t);
hipError_t hipFree(void *);
hipError_t hipMemcpyHtoDAsync(void *, const void *, size_t, hipStream_t);
hipError_t hipMemcpyDtoHAsync(void *, void *, size_t, hipStream_t);
hipError_t hipDeviceSynchronize();
}

#include "device_kernels.cu"

constexpr int kSize = 1000, kBlock = 64, kBlocks = (kSize + kBlock - 1) / kBlock;

int main(int, char **words) {
  static unsigned values[kSize];
  void *memory = nullptr;
  if (hipMalloc(&memory, sizeof values) != 0 || hipMemcpyHtoDAsync(memory, values, sizeof values, nullptr) != 0)
    return 1;
  for (int i = 0; i < atoi(words[1]); ++i) {
    collatz<<<kBlocks, kBlock>>>(static_cast<unsigned *>(memory), 1, kSize);
    choose<<<kBlocks, kBlock>>>(static_cast<unsigned *>(memory), kSize);
  }
  if (hipMemcpyDtoHAsync(values, memory, sizeof values, nullptr) != 0 || hipDeviceSynchronize() != 0)
    return 1;
  unsigned sum = 0;
  for (const unsigned value : values)
    sum = sum * 31 + value;
  printf("%u\n", sum);
  return hipFree(memory);
}
