// Allocates memory of the host and of two devices. It frees only part of it.
#include <cuda_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>

static char *volatile kept;

static void use_device(int device, size_t bytes) {
  void *leaked, *freed;
  if (cudaSetDevice(device) != 0 || cudaMalloc(&leaked, bytes) != 0 || cudaMalloc(&freed, 3 * bytes) != 0 ||
      cudaFree(freed) != 0)
    printf("device %d: an allocation failed\n", device);
}

int main(void) {
  void *pinned;
  kept = malloc(5000);
  if (cudaMallocHost(&pinned, 700) != 0)
    printf("no page-locked memory\n");
  use_device(0, 1000);
  use_device(1, 2000);
  if (cudaMalloc(&pinned, (size_t)1 << 60) == 0)
    printf("the device has too much memory\n");
  printf("%d\n", kept != NULL);
  return 0;
}
