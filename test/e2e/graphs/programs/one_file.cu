// A CUDA or HIP program with a kernel and a loop on the host. It declares the parts of an SDK that it needs.
#ifdef __HIP__
#define RUNTIME(name) hip##name
#else
#define RUNTIME(name) cuda##name
#endif

typedef unsigned long size_t;
struct dim3 {
  unsigned x, y, z;
};
extern "C" {
int RUNTIME(LaunchKernel)(const void *stub, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream);
#ifdef __HIP__
int __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void **stream);
#else
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, void *stream = 0);
#endif
int printf(const char *, ...);
}

#include "device_kernels.cu"

int main(int count, char **) {
  for (int i = 0; i < 17 * count; ++i)
    printf("%d\n", i);
}
