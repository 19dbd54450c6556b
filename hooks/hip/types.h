// The types of HIP's functions, as cuda/types.h has those of CUDA. A test compiles the hooks with the headers of HIP 5,
// which lack some types.
#pragma once

#include "msleaks/abi/symbol.h"

#include <cstddef>

#ifdef MSL_VENDOR_HEADERS
#include <hip/hip_runtime_api.h>
#else
using hipError_t = int;
using hipDevice_t = int;
using hipDeviceptr_t = void *;
using hipMemcpyKind = int;
using hipStream_t = void *;
using hipEvent_t = void *;
using hipCtx_t = void *;
using hipModule_t = void *;
using hipFunction_t = void *;
using hipArray_t = void *;
using hipArray_const_t = const void *;
using hipMipmappedArray_t = void *;
using hipMemPool_t = void *;
using hipExternalMemory_t = void *;
using hipMemGenericAllocationHandle_t = void *;
using hipMemAllocationHandleType = int;
using hipGraph_t = void *;
using hipGraphExec_t = void *;
using hipGraphNode_t = void *;
using hipJitOption = int;
using hipFuncAttribute = int;
using hipFuncCache_t = int;
using hipSharedMemConfig = int;
using hipLaunchParams = void;
using hipMemPoolPtrExportData = void;
using hip_Memcpy2D = void;
using HIP_MEMCPY3D = void;
struct dim3 {
  unsigned x, y, z;
};
struct hipChannelFormatDesc {
  int x, y, z, w, f;
};
struct hipExtent {
  size_t width, height, depth;
};
struct hipPos {
  size_t x, y, z;
};
struct hipPitchedPtr {
  void *ptr;
  size_t pitch, xsize, ysize;
};
struct hipMemcpy3DParms {
  hipArray_t srcArray;
  hipPos srcPos;
  hipPitchedPtr srcPtr;
  hipArray_t dstArray;
  hipPos dstPos;
  hipPitchedPtr dstPtr;
  hipExtent extent;
  hipMemcpyKind kind;
};
struct hipMemLocation {
  int type, id;
};
struct hipMemAllocationProp {
  int type, requestedHandleType;
  hipMemLocation location;
};
struct HIP_ARRAY_DESCRIPTOR {
  size_t Width, Height;
  int Format;
  unsigned NumChannels;
};
struct HIP_ARRAY3D_DESCRIPTOR {
  size_t Width, Height, Depth;
  int Format;
  unsigned NumChannels, Flags;
};
struct hipIpcMemHandle_t {
  char reserved[64];
};
struct hipIpcEventHandle_t {
  char reserved[64];
};
using hipTextureObject_t = void *;
using hipSurfaceObject_t = void *;
using hipExternalSemaphore_t = void *;
using hipResourceDesc = void;
using hipTextureDesc = void;
using hipResourceViewDesc = void;
using hipMemPoolProps = void;
using hipExternalMemoryHandleDesc = void;
using hipExternalSemaphoreHandleDesc = void;
using HIP_RESOURCE_DESC = void;
using HIP_TEXTURE_DESC = void;
using HIP_RESOURCE_VIEW_DESC = void;
struct hipExternalMemoryBufferDesc {
  unsigned long long offset, size;
};
#endif
#if !defined(HIP_VERSION_MAJOR) || HIP_VERSION_MAJOR < 6
using HIP_LAUNCH_CONFIG = msleaks::abi::LaunchConfig;
using hipLaunchConfig_t = msleaks::abi::LaunchConfig;
using hipLinkState_t = void *;
using hipMemAllocNodeParams = void;
using hipGraphNodeParams = void;
using hipGraphInstantiateParams = void;
#endif
#if !defined(HIP_VERSION_MAJOR) || HIP_VERSION_MAJOR < 7
using hipMemcpyAttributes = void;
using hipLibrary_t = void *;
using hipKernel_t = void *;
using hipLibraryOption = int;
struct hipMemcpy3DPeerParms {
  hipArray_t srcArray;
  hipPos srcPos;
  hipPitchedPtr srcPtr;
  int srcDevice;
  hipArray_t dstArray;
  hipPos dstPos;
  hipPitchedPtr dstPtr;
  int dstDevice;
  hipExtent extent;
};
#endif
