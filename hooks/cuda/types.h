// The types of CUDA's functions. They are declared here, so the build needs no header of CUDA. A handle is a void
// pointer, an enumeration is an int, and a struct that no hook reads is void. A test compiles the hooks with NVIDIA's
// headers (MSL_VENDOR_HEADERS): then a prototype that differs is an error.
#pragma once

#include "msleaks/abi/symbol.h"

#include <cstddef>
#include <cstdint>

#ifdef MSL_VENDOR_HEADERS
#include <cuda.h>
#include <cuda_runtime_api.h>
#if CUDART_VERSION < 13000
using cudaExecutionContext_t = void *;
using cudaDevResourceDesc_t = void *;
#endif
#else
using cudaError_t = int;
using cudaMemcpyKind = int;
using cudaStream_t = void *;
using cudaEvent_t = void *;
using cudaExecutionContext_t = void *;
using cudaArray_t = void *;
using cudaArray_const_t = const void *;
using cudaMipmappedArray_t = void *;
using cudaMemPool_t = void *;
using cudaExternalMemory_t = void *;
using cudaGraph_t = void *;
using cudaGraphExec_t = void *;
using cudaGraphNode_t = void *;
using cudaLaunchConfig_t = msleaks::abi::LaunchConfig;
using cudaLaunchParams = void;
using cudaMemcpyAttributes = void;
using cudaMemPoolPtrExportData = void;
using cudaGraphEdgeData = void;
using cudaGraphInstantiateParams = void;
using cudaGraphNodeParams = void;
using cudaMemAllocNodeParams = void;
struct dim3 {
  unsigned x, y, z;
};
struct cudaChannelFormatDesc {
  int x, y, z, w, f;
};
struct cudaExtent {
  size_t width, height, depth;
};
struct cudaPos {
  size_t x, y, z;
};
struct cudaPitchedPtr {
  void *ptr;
  size_t pitch, xsize, ysize;
};
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};
struct cudaMemcpy3DPeerParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  int srcDevice;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  int dstDevice;
  cudaExtent extent;
};
struct cudaIpcMemHandle_t {
  char reserved[64];
};
struct cudaIpcEventHandle_t {
  char reserved[64];
};
using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;
using cudaResourceDesc = void;
using cudaTextureDesc = void;
using cudaResourceViewDesc = void;
using cudaMemPoolProps = void;
using cudaMemAllocationHandleType = int;
using cudaExternalMemoryHandleDesc = void;
using cudaExternalSemaphore_t = void *;
using cudaExternalSemaphoreHandleDesc = void;
using cudaDevResourceDesc_t = void *;
struct cudaExternalMemoryBufferDesc {
  unsigned long long offset, size;
};
struct cudaExternalMemoryMipmappedArrayDesc {
  unsigned long long offset;
  cudaChannelFormatDesc formatDesc;
  cudaExtent extent;
  unsigned flags, numLevels;
};

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = void *;
using CUgreenCtx = void *;
using CUstream = void *;
using CUevent = void *;
using CUfunction = void *;
using CUkernel = void *;
using CUmodule = void *;
using CUlibrary = void *;
using CUarray = void *;
using CUmipmappedArray = void *;
using CUmemoryPool = void *;
using CUexternalMemory = void *;
using CUgraph = void *;
using CUgraphExec = void *;
using CUgraphNode = void *;
using CUexternalSemaphore = void *;
using CUlinkState = void *;
using CUtexObject = unsigned long long;
using CUsurfObject = unsigned long long;
using CUdevResourceDesc = void *;
using CUipcEventHandle = cudaIpcEventHandle_t;
using CUmemPoolProps = void;
using CUDA_RESOURCE_DESC = void;
using CUDA_TEXTURE_DESC = void;
using CUDA_RESOURCE_VIEW_DESC = void;
using CUDA_EXTERNAL_MEMORY_HANDLE_DESC = void;
using CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC = void;
using CUmemGenericAllocationHandle = unsigned long long;
using CUmemAllocationHandleType = int;
using CUfunction_attribute = int;
using CUfunc_cache = int;
using CUsharedconfig = int;
using CUjit_option = int;
using CUlibraryOption = int;
using CUlaunchConfig = msleaks::abi::LaunchConfig;
using CUexecAffinityParam = void;
using CUctxCreateParams = void;
using CUmulticastObjectProp = void;
using CUmemcpyAttributes = void;
using CUmemPoolPtrExportData = void;
using CUgraphEdgeData = void;
using CUgraphNodeParams = void;
using CUDA_GRAPH_INSTANTIATE_PARAMS = void;
using CUDA_LAUNCH_PARAMS = void;
using CUDA_MEM_ALLOC_NODE_PARAMS = void;
using CUipcMemHandle = cudaIpcMemHandle_t;
using CUDA_EXTERNAL_MEMORY_BUFFER_DESC = cudaExternalMemoryBufferDesc;
struct CUmemLocation {
  int type, id;
};
struct CUmemAllocationProp {
  int type, requestedHandleTypes;
  CUmemLocation location;
};
struct CUDA_ARRAY_DESCRIPTOR {
  size_t Width, Height;
  int Format;
  unsigned NumChannels;
};
struct CUDA_ARRAY3D_DESCRIPTOR {
  size_t Width, Height, Depth;
  int Format;
  unsigned NumChannels, Flags;
};
struct CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC {
  unsigned long long offset;
  CUDA_ARRAY3D_DESCRIPTOR arrayDesc;
  unsigned numLevels;
};
struct CUDA_MEMCPY2D {
  size_t srcXInBytes, srcY;
  int srcMemoryType;
  const void *srcHost;
  CUdeviceptr srcDevice;
  void *srcArray;
  size_t srcPitch, dstXInBytes, dstY;
  int dstMemoryType;
  void *dstHost;
  CUdeviceptr dstDevice;
  void *dstArray;
  size_t dstPitch, WidthInBytes, Height;
};
struct CUDA_MEMCPY3D {
  size_t srcXInBytes, srcY, srcZ, srcLOD;
  int srcMemoryType;
  const void *srcHost;
  CUdeviceptr srcDevice;
  void *srcArray, *reserved0;
  size_t srcPitch, srcHeight, dstXInBytes, dstY, dstZ, dstLOD;
  int dstMemoryType;
  void *dstHost;
  CUdeviceptr dstDevice;
  void *dstArray, *reserved1;
  size_t dstPitch, dstHeight, WidthInBytes, Height, Depth;
};
using CUDA_MEMCPY3D_PEER = CUDA_MEMCPY3D; // with the ends' contexts instead of the reserved words
#endif
