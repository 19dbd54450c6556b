// The functions by which the runtime calls CUDA (hook::Device).
#include "cuda/ask.h"
#include "cuda/nvml.h"
#include "host/real.h"

using namespace msleaks;
using hooks::cuda::ask;

namespace {

MSL_ASKED(driver_wait, "libcuda", "cuStreamSynchronize")
MSL_ASKED(driver_read, "libcuda", "cuMemcpyDtoHAsync_v2")
MSL_ASKED(driver_capturing, "libcuda", "cuStreamIsCapturing")
MSL_ASKED(driver_name, "libcuda", "cuFuncGetName")
MSL_ASKED(driver_memory, "libcuda", "cuMemGetInfo_v2")
MSL_ASKED(driver_exchange, "libcuda", "cuThreadExchangeStreamCaptureMode")
MSL_ASKED(runtime_memory, "libcudart", "cudaMemGetInfo")
MSL_ASKED(runtime_wait, "libcudart", "cudaStreamSynchronize")
MSL_ASKED(runtime_read, "libcudart", "cudaMemcpyAsync")
MSL_ASKED(runtime_capturing, "libcudart", "cudaStreamIsCapturing")
MSL_ASKED(runtime_name, "libcudart", "cudaFuncGetName")
MSL_ASKED(runtime_exchange, "libcudart", "cudaThreadExchangeStreamCaptureMode")
MSL_ASKED(look_at_error, "libcudart", "cudaPeekAtLastError")
MSL_ASKED(take_error, "libcudart", "cudaGetLastError")

constexpr auto kExchange = [](int *mode) { ask<int(int *)>({driver_exchange, runtime_exchange}, mode); };
constexpr auto kGetState = [](const void *stream, int *state) {
  return ask<int(const void *, int *)>({driver_capturing, runtime_capturing}, stream, state);
};
constexpr auto kSynchronize = [](const void *stream) {
  return ask<int(const void *)>({driver_wait, runtime_wait}, stream);
};
using Calls = hooks::StreamCalls<kExchange, kGetState, kSynchronize>;

int32_t read(const void *stream, const void *block, uint64_t offset, uint64_t bytes, void *to) {
  constexpr int kDeviceToHost = 2;
  const Calls::Relaxed relaxed(kExchange);
  const auto from = reinterpret_cast<uint64_t>(block) + offset;
  int32_t status = hooks::callReal<int(void *, uint64_t, size_t, const void *)>(driver_read, to, from, bytes, stream);
  if (status == hooks::kNone)
    status = hooks::leavingLastError(hooks::cuda::kLast, [=] {
      using Copy = int(void *, uint64_t, size_t, int, const void *);
      return hooks::callReal<Copy>(runtime_read, to, from, bytes, kDeviceToHost, stream);
    });
  return status == 0 ? Calls::wait(stream) : status;
}

// CUDA's runtime library knows the names of stubs (functions of the host). The driver knows the names of other handles.
// For a handle of the wrong kind, the runtime library would keep an error, and the driver would take it for valid.
int32_t name(const void *kernel, char *text, uint64_t bytes) {
  using Ask = int(const char **, const void *);
  const char *known = nullptr;
  const int32_t status = hooks::imageOf(kernel) == nullptr
                             ? hooks::callReal<Ask>(driver_name, &known, kernel)
                             : hooks::leavingLastError(hooks::cuda::kLast, [&] {
                                 return hooks::callReal<Ask>(runtime_name, &known, kernel);
                               });
  return status == 0 ? hooks::copyText(known, text, bytes) : status;
}

int32_t memory(uint64_t *free, uint64_t *total) {
  const Calls::Relaxed relaxed(kExchange);
  return ask<int(size_t *, size_t *)>({driver_memory, runtime_memory}, free, total);
}

MSL_DEVICE_OF(Cuda, Calls::wait, read, name, memory, hooks::bytesInUseByNvml)

} // namespace

constinit const hooks::LastError hooks::cuda::kLast = {look_at_error, take_error};
