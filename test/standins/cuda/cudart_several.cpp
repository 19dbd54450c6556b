// Imitates functions of CUDA's runtime library and its driver, and of HIP, that concern several devices. The default
// stream is of the first device, and each other stream of the second one.
#include "cudart.cpp"

extern "C" {
cudaError_t cudaLaunchCooperativeKernelMultiDevice(cudaLaunchParams *list, unsigned count, unsigned) {
  STANDIN_MAY_REFUSE(said);
  for (unsigned i = 0; i < count; ++i)
    if (const cudaError_t status = cudaLaunchKernel(list[i].func, list[i].gridDim, list[i].blockDim, list[i].args,
                                                    list[i].sharedMem, list[i].stream);
        status != cudaSuccess)
      return said(status);
  return said(count != 0 ? cudaSuccess : cudaErrorInvalidValue);
}
#ifdef HIP
int hipGetStreamDeviceId(hipStream_t stream) {
  errno = EXDEV;
  return stream != nullptr ? 1 : 0;
}
hipError_t hipExtLaunchMultiKernelMultiDevice(hipLaunchParams *list, int count, unsigned flags) {
  return hipLaunchCooperativeKernelMultiDevice(list, static_cast<unsigned>(count), flags);
}
hipError_t hipModuleLaunchCooperativeKernelMultiDevice(void *, unsigned count, unsigned) {
  return said(count != 0 ? hipSuccess : hipErrorInvalidValue);
}
hipError_t hipMemsetD2D8(void *to, size_t pitch, unsigned char value, size_t width, size_t height) {
  return hipMemset2D(to, pitch, value, width, height);
}
hipError_t hipMemsetD2D8Async(void *to, size_t pitch, unsigned char value, size_t width, size_t height,
                              hipStream_t stream) {
  return hipMemset2DAsync(to, pitch, value, width, height, stream);
}
hipError_t hipMemsetD2D16(void *, size_t, unsigned short, size_t, size_t) { return said(hipSuccess); }
hipError_t hipMemsetD2D16Async(void *, size_t, unsigned short, size_t, size_t, hipStream_t) { return said(hipSuccess); }
hipError_t hipMemsetD2D32(void *, size_t, unsigned, size_t, size_t) { return said(hipSuccess); }
hipError_t hipMemsetD2D32Async(void *, size_t, unsigned, size_t, size_t, hipStream_t) { return said(hipSuccess); }
// A context is the number of its device plus 1.
hipError_t hipCtxSetCurrent(void *context) {
  STANDIN_MAY_REFUSE(said);
  return hipSetDevice(static_cast<int>(reinterpret_cast<intptr_t>(context)) - 1);
}
hipError_t hipCtxPushCurrent(void *context) { return hipCtxSetCurrent(context); }
hipError_t hipCtxPopCurrent(void **context) {
  *context = reinterpret_cast<void *>(static_cast<intptr_t>(current) + 1);
  return hipSetDevice(0);
}
#else
int cuStreamGetDevice(void *stream, int *device) {
  errno = EXDEV;
  *device = stream != nullptr ? 1 : 0;
  return 0;
}
int cuLaunchCooperativeKernelMultiDevice(void *, unsigned count, unsigned) { return count != 0 ? 0 : 1; }
int cuGreenCtxStreamCreate(void **stream, void *, unsigned, int) {
  *stream = new char;
  return 0;
}
#endif
}
