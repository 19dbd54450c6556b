// Defines for HIP the types in the rows that it shares with CUDA (msleaks/abi/functions/gpu.def).
#pragma once

#include "hip/types.h"

constexpr auto kVendor = msleaks::abi::Family::Hip;

using Stream = hipStream_t;
using Event = hipEvent_t;
using Module = hipModule_t;
using JitOption = hipJitOption;
using Graph = hipGraph_t;
using GraphExec = hipGraphExec_t;
using NodeHandle = hipGraphNode_t;
using InstantiateParams = hipGraphInstantiateParams;
using AllocNodeParams = hipMemAllocNodeParams;
using Pool = hipMemPool_t;
using PoolPointer = hipMemPoolPtrExportData;
using IpcHandle = hipIpcMemHandle_t;
using External = hipExternalMemory_t;
using ExternalBuffer = hipExternalMemoryBufferDesc;
struct ExternalArray { // HIP 5 does not have it
  unsigned long long offset;
  hipChannelFormatDesc formatDesc;
  hipExtent extent;
  unsigned flags, numLevels;
};
using ExternalSource = hipExternalMemoryHandleDesc;
using ForeignSemaphore = hipExternalSemaphore_t;
using SemaphoreSource = hipExternalSemaphoreHandleDesc;
using IpcEvent = hipIpcEventHandle_t;
using PoolWish = hipMemPoolProps;
using PoolKind = hipMemAllocationHandleType;
using Texture = hipTextureObject_t;
using Surface = hipSurfaceObject_t;
using Resource = hipResourceDesc;
using TextureWish = hipTextureDesc;
using ResourceView = hipResourceViewDesc;
using DriverResource = HIP_RESOURCE_DESC;
using DriverTextureWish = HIP_TEXTURE_DESC;
using DriverResourceView = HIP_RESOURCE_VIEW_DESC;
using LinkState = hipLinkState_t;
using Kind = hipMemcpyKind;
using Array = hipArray_t;
using ConstArray = hipArray_const_t;
using Mipmapped = hipMipmappedArray_t;
using ElementFormat = hipChannelFormatDesc;
using Volume = hipExtent;
using Pitched = hipPitchedPtr;
using VolumeParms = hipMemcpy3DParms;
using PeerParms = hipMemcpy3DPeerParms;

using Address = hipDeviceptr_t;
using Word = int;
using Physical = hipMemGenericAllocationHandle_t;
using PhysicalProperty = hipMemAllocationProp;
using PhysicalKind = hipMemAllocationHandleType;
using DriverArray = hipArray_t;
using DriverMipmapped = hipMipmappedArray_t;
using Description2D = HIP_ARRAY_DESCRIPTOR;
using Description3D = HIP_ARRAY3D_DESCRIPTOR;
using MipmappedDescription = HIP_ARRAY3D_DESCRIPTOR;
#if defined(HIP_VERSION_MAJOR) && HIP_VERSION_MAJOR < 6
using HostSource = void;
#else
using HostSource = const void;
#endif
using PlanHandle = void *;
