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
typedef void *cudaExecutionContext_t, *cudaDevResourceDesc_t;
#endif
#else
typedef void *cudaStream_t, *cudaEvent_t, *cudaExecutionContext_t, *cudaArray_t, *cudaMipmappedArray_t, *cudaMemPool_t,
    *cudaExternalMemory_t, *cudaGraph_t, *cudaGraphExec_t, *cudaGraphNode_t, *cudaExternalSemaphore_t,
    *cudaDevResourceDesc_t;
using cudaArray_const_t = const void *;
typedef int cudaError_t, cudaMemcpyKind, cudaMemAllocationHandleType;
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;
typedef void cudaLaunchParams, cudaMemcpyAttributes, cudaMemPoolPtrExportData, cudaGraphEdgeData,
    cudaGraphInstantiateParams, cudaGraphNodeParams, cudaMemAllocNodeParams, cudaResourceDesc, cudaTextureDesc,
    cudaResourceViewDesc, cudaMemPoolProps, cudaExternalMemoryHandleDesc, cudaExternalSemaphoreHandleDesc;
using cudaLaunchConfig_t = msleaks::abi::LaunchConfig;
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
struct cudaExternalMemoryBufferDesc {
  unsigned long long offset, size;
};
struct cudaExternalMemoryMipmappedArrayDesc {
  unsigned long long offset;
  cudaChannelFormatDesc formatDesc;
  cudaExtent extent;
  unsigned flags, numLevels;
};

typedef void *CUcontext, *CUgreenCtx, *CUstream, *CUevent, *CUfunction, *CUkernel, *CUmodule, *CUlibrary, *CUarray,
    *CUmipmappedArray, *CUmemoryPool, *CUexternalMemory, *CUgraph, *CUgraphExec, *CUgraphNode, *CUexternalSemaphore,
    *CUlinkState, *CUdevResourceDesc;
typedef int CUresult, CUdevice, CUmemAllocationHandleType, CUfunction_attribute, CUfunc_cache, CUsharedconfig,
    CUjit_option, CUlibraryOption;
typedef unsigned long long CUdeviceptr, CUtexObject, CUsurfObject, CUmemGenericAllocationHandle;
typedef void CUmemPoolProps, CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC, CUDA_RESOURCE_VIEW_DESC,
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC, CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC, CUexecAffinityParam, CUctxCreateParams,
    CUmulticastObjectProp, CUmemcpyAttributes, CUmemPoolPtrExportData, CUgraphEdgeData, CUgraphNodeParams,
    CUDA_GRAPH_INSTANTIATE_PARAMS, CUDA_LAUNCH_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS;
using CUipcEventHandle = cudaIpcEventHandle_t;
using CUlaunchConfig = msleaks::abi::LaunchConfig;
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
