// Defines for CUDA the types in the rows that it shares with HIP (msleaks/abi/functions/gpu.def).
#pragma once

#include "cuda/types.h"

constexpr auto kVendor = msleaks::abi::Family::Cuda;

using Stream = cudaStream_t;
using Event = cudaEvent_t;
using Module = CUmodule;
using JitOption = CUjit_option;
using Graph = cudaGraph_t;
using GraphExec = cudaGraphExec_t;
using NodeHandle = cudaGraphNode_t;
using InstantiateParams = cudaGraphInstantiateParams;
using AllocNodeParams = cudaMemAllocNodeParams;
using Pool = cudaMemPool_t;
using PoolPointer = cudaMemPoolPtrExportData;
using IpcHandle = cudaIpcMemHandle_t;
using External = cudaExternalMemory_t;
using ExternalBuffer = cudaExternalMemoryBufferDesc;
using ExternalArray = cudaExternalMemoryMipmappedArrayDesc;
using ExternalSource = cudaExternalMemoryHandleDesc;
using ForeignSemaphore = cudaExternalSemaphore_t;
using SemaphoreSource = cudaExternalSemaphoreHandleDesc;
using IpcEvent = cudaIpcEventHandle_t;
using PoolWish = cudaMemPoolProps;
using PoolKind = cudaMemAllocationHandleType;
using Texture = cudaTextureObject_t;
using Surface = cudaSurfaceObject_t;
using Resource = cudaResourceDesc;
using TextureWish = cudaTextureDesc;
using ResourceView = cudaResourceViewDesc;
using DriverResource = CUDA_RESOURCE_DESC;
using DriverTextureWish = CUDA_TEXTURE_DESC;
using DriverResourceView = CUDA_RESOURCE_VIEW_DESC;
using LinkState = CUlinkState;
using Kind = cudaMemcpyKind;
using Array = cudaArray_t;
using ConstArray = cudaArray_const_t;
using Mipmapped = cudaMipmappedArray_t;
using ElementFormat = cudaChannelFormatDesc;
using Volume = cudaExtent;
using Pitched = cudaPitchedPtr;
using VolumeParms = cudaMemcpy3DParms;
using PeerParms = const cudaMemcpy3DPeerParms;

using Address = CUdeviceptr;
using HostSource = const void;
using Word = unsigned;
using Physical = CUmemGenericAllocationHandle;
using PhysicalProperty = CUmemAllocationProp;
using PhysicalKind = CUmemAllocationHandleType;
using DriverArray = CUarray;
using DriverMipmapped = CUmipmappedArray;
using Description2D = CUDA_ARRAY_DESCRIPTOR;
using Description3D = CUDA_ARRAY3D_DESCRIPTOR;
using MipmappedDescription = const CUDA_ARRAY3D_DESCRIPTOR;
using PlanHandle = int;
