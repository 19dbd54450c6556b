// Replaces the driver of CUDA in tests, without a device. It has two kernels: "work", which has a copy that counts, and
// "other". The program (counting_victim.cpp) supplies the driver's constants, and the driver reports each call to the
// program.
#include <stdlib.h>
#include <string.h>

enum { kNotFound = 500, kNotReady = 600 };

// counting_victim.cpp defines these functions.
void calledDriver(const char *function);
int isReady(void);
const void *constantOf(const char *name, size_t *bytes);
void launchedKernel(const void *kernel);

int cuModuleGetFunction(void **kernel, void *module, const char *name) {
  (void)module;
  const char *const names[] = {"work", "__msl_counted_work", "other"};
  for (size_t i = 0; i < 3; ++i)
    if (strcmp(name, names[i]) == 0) {
      *kernel = (void *)((i + 1) * 0x1000);
      return 0;
    }
  return kNotFound;
}
int cuModuleGetGlobal_v2(const void **address, size_t *bytes, void *module, const char *name) {
  (void)module;
  *address = constantOf(name, bytes);
  return *address != NULL ? 0 : kNotFound;
}
int cuLaunchKernel(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **each, void **packed) {
  (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)stream, (void)each, (void)packed;
  launchedKernel(kernel);
  return 0;
}
int cuCtxGetCurrent(void **context) {
  *context = (void *)1;
  return 0;
}
int cuCtxSetCurrent(void *context) {
  (void)context;
  return 0;
}
int cuMemAlloc_v2(void **address, size_t bytes) {
  *address = malloc(bytes);
  return 0;
}
int cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t bytes, void *stream) {
  (void)stream;
  memcpy(to, from, bytes);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t bytes, void *stream) {
  (void)stream;
  calledDriver("cuMemcpyDtoHAsync_v2");
  memcpy(to, from, bytes);
  return 0;
}
int cuStreamCreate(void **stream, unsigned flags) {
  (void)flags;
  calledDriver("cuStreamCreate");
  *stream = (void *)1;
  return 0;
}
int cuStreamDestroy_v2(void *stream) {
  (void)stream;
  return 0;
}
int cuStreamSynchronize(void *stream) {
  (void)stream;
  return 0;
}
int cuStreamIsCapturing(void *stream, int *state) {
  (void)stream;
  *state = 0;
  return 0;
}
int cuThreadExchangeStreamCaptureMode(int *mode) {
  (void)mode;
  return 0;
}
int cuEventCreate(void **event, unsigned flags) {
  (void)flags;
  *event = (void *)1;
  return 0;
}
int cuEventRecord(void *event, void *stream) {
  (void)event, (void)stream;
  return 0;
}
int cuEventQuery(void *event) {
  (void)event;
  calledDriver("cuEventQuery");
  return isReady() ? 0 : kNotReady;
}
