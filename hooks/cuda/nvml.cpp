#include "cuda/nvml.h"

#include "devices/device.h"

#ifdef MSL_VENDOR_HEADERS
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <nvml.h>
#else
using CUdevice = int;
using nvmlDevice_t = void *;
struct nvmlMemory_t {
  unsigned long long total, free, used;
};
extern "C" {
int cuCtxGetDevice(CUdevice *);
int cuDeviceGetPCIBusId(char *, int, CUdevice);
int cudaGetDevice(int *);
int cudaDeviceGetPCIBusId(char *, int, int);
int nvmlDeviceGetHandleByPciBusId_v2(const char *, nvmlDevice_t *);
int nvmlDeviceGetMigMode(nvmlDevice_t, unsigned *, unsigned *);
int nvmlDeviceGetMemoryInfo(nvmlDevice_t, nvmlMemory_t *);
}
#endif

namespace msleaks::hooks {
namespace {

MSL_ASKED(driver_device, "libcuda", "cuCtxGetDevice")
MSL_ASKED(driver_bus, "libcuda", "cuDeviceGetPCIBusId")
MSL_ASKED(runtime_device, "libcudart", "cudaGetDevice")
MSL_ASKED(runtime_bus, "libcudart", "cudaDeviceGetPCIBusId")
MSL_ASKED(nvml_device, "libnvidia-ml", "nvmlDeviceGetHandleByPciBusId_v2")
MSL_ASKED(nvml_mig, "libnvidia-ml", "nvmlDeviceGetMigMode")
MSL_ASKED(nvml_memory, "libnvidia-ml", "nvmlDeviceGetMemoryInfo")

// Stores the device's PCI address. NVML numbers all devices, but CUDA's number is valid in the process only:
// $CUDA_VISIBLE_DEVICES hides and reorders devices.
int32_t busOf(char *text, int bytes) {
  int device = 0;
  int32_t status = callReal<decltype(cuCtxGetDevice)>(driver_device, &device);
  if (status != kNone)
    return status == 0 ? callReal<decltype(cuDeviceGetPCIBusId)>(driver_bus, text, bytes, device) : status;
  status = callReal<decltype(cudaGetDevice)>(runtime_device, &device);
  return status == 0 ? callReal<decltype(cudaDeviceGetPCIBusId)>(runtime_bus, text, bytes, device) : status;
}

// Whether the GPU is divided (MIG). Then the driver's numbers are about one part, and NVML's are about the whole GPU.
bool isPartitioned(nvmlDevice_t device) {
  unsigned now = 0, next = 0;
  return callReal<decltype(nvmlDeviceGetMigMode)>(nvml_mig, device, &now, &next) == 0 && now != 0;
}

} // namespace

int32_t bytesInUseByNvml(uint64_t *bytes) {
  if (hook::realOf(nvml_memory) == nullptr)
    return kNone;
  char bus[32];
  if (const int32_t status = busOf(bus, sizeof bus); status != 0)
    return status;
  nvmlDevice_t device = nullptr;
  if (const int32_t status = callReal<decltype(nvmlDeviceGetHandleByPciBusId_v2)>(nvml_device, bus, &device);
      status != 0)
    return status;
  if (isPartitioned(device))
    return kNone;
  nvmlMemory_t memory{};
  const int32_t status = callReal<decltype(nvmlDeviceGetMemoryInfo)>(nvml_memory, device, &memory);
  *bytes = memory.used;
  return status;
}

} // namespace msleaks::hooks
