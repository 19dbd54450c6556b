// The types of HIP's functions, as cuda/types.h has those of CUDA. A test compiles the hooks with the headers of HIP 5,
// which lack some types.
#pragma once

#include "msleaks/abi/symbol.h"

#include <cstddef>

#ifdef MSL_VENDOR_HEADERS
#include <hip/hip_runtime_api.h>
#else
typedef void *hipDeviceptr_t, *hipStream_t, *hipEvent_t, *hipCtx_t, *hipModule_t, *hipFunction_t, *hipArray_t,
    *hipMipmappedArray_t, *hipMemPool_t, *hipExternalMemory_t, *hipMemGenericAllocationHandle_t, *hipGraph_t,
    *hipGraphExec_t, *hipGraphNode_t, *hipTextureObject_t, *hipSurfaceObject_t, *hipExternalSemaphore_t;
using hipArray_const_t = const void *;
typedef int hipError_t, hipDevice_t, hipMemcpyKind, hipMemAllocationHandleType, hipJitOption, hipFuncAttribute,
    hipFuncCache_t, hipSharedMemConfig;
typedef void hipLaunchParams, hipMemPoolPtrExportData, hip_Memcpy2D, HIP_MEMCPY3D, hipResourceDesc, hipTextureDesc,
    hipResourceViewDesc, hipMemPoolProps, hipExternalMemoryHandleDesc, hipExternalSemaphoreHandleDesc,
    HIP_RESOURCE_DESC, HIP_TEXTURE_DESC, HIP_RESOURCE_VIEW_DESC;
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
struct hipExternalMemoryBufferDesc {
  unsigned long long offset, size;
};
#endif
#if !defined(HIP_VERSION_MAJOR) || HIP_VERSION_MAJOR < 6
using HIP_LAUNCH_CONFIG = msleaks::abi::LaunchConfig;
using hipLaunchConfig_t = msleaks::abi::LaunchConfig;
using hipLinkState_t = void *;
typedef void hipMemAllocNodeParams, hipGraphNodeParams, hipGraphInstantiateParams;
#endif
#if !defined(HIP_VERSION_MAJOR) || HIP_VERSION_MAJOR < 7
typedef void *hipLibrary_t, *hipKernel_t;
using hipLibraryOption = int;
using hipMemcpyAttributes = void;
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
