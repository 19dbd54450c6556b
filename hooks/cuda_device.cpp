// What the runtime asks of CUDA: its driver where the process has it, whose functions leave cudaGetLastError alone,
// else its runtime.
#include "cuda_nvml.h"
#include "device.h"
#include "real.h"

using namespace msleaks;

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

// A call of ours would end a capture, and nothing runs before it is launched.
bool isCapturing(const void *stream) {
  int state = 0;
  using Ask = int(const void *, int *);
  if (hooks::callReal<Ask>(driver_capturing, stream, &state) == hooks::kNone)
    hooks::callReal<Ask>(runtime_capturing, stream, &state);
  return state != 0;
}

int32_t wait(const void *stream) {
  if (isCapturing(stream))
    return hooks::kNone;
  const int32_t status = hooks::callReal<int(const void *)>(driver_wait, stream);
  return status != hooks::kNone ? status : hooks::callReal<int(const void *)>(runtime_wait, stream);
}

int32_t read(const void *stream, const void *block, uint64_t offset, uint64_t bytes, void *to) {
  constexpr int kDeviceToHost = 2;
  const auto from = reinterpret_cast<uint64_t>(block) + offset;
  int32_t status = hooks::callReal<int(void *, uint64_t, size_t, const void *)>(driver_read, to, from, bytes, stream);
  if (status == hooks::kNone)
    status = hooks::callReal<int(void *, const void *, size_t, int, const void *)>(
        runtime_read, to, reinterpret_cast<const void *>(from), bytes, kDeviceToHost, stream);
  return status == 0 ? wait(stream) : status;
}

// A stub is a function of the host, which the runtime knows; other handles are the driver's. Asked of the other one,
// the runtime would keep an error, and the driver believe it.
int32_t name(const void *kernel, char *text, uint64_t bytes) {
  const char *known = nullptr;
  hook::Function &ask = hooks::imageOf(kernel) != nullptr ? runtime_name : driver_name;
  const int32_t status = hooks::callReal<int(const char **, const void *)>(ask, &known, kernel);
  return status == 0 ? hooks::copyText(known, text, bytes) : status;
}

// While the thread captures a stream, a call that is no part of the capture would end it.
class CaptureRelaxed {
public:
  CaptureRelaxed() { exchange(); }
  ~CaptureRelaxed() { exchange(); }

private:
  void exchange() { hooks::callReal<int(int *)>(driver_exchange, &mode_); }
  int mode_ = 2; // CU_STREAM_CAPTURE_MODE_RELAXED; then what it was
};

int32_t memory(uint64_t *free, uint64_t *total) {
  const CaptureRelaxed relaxed;
  const int32_t status = hooks::callReal<int(size_t *, size_t *)>(driver_memory, free, total);
  return status != hooks::kNone ? status : hooks::callReal<int(size_t *, size_t *)>(runtime_memory, free, total);
}

MSL_DEVICE_OF(Cuda, wait, read, name, memory, hooks::bytesInUseByNvml)

} // namespace
