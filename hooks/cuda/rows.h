// Defines for CUDA the types and macros of the rows that it shares with HIP (devices/rows.h).
#pragma once

#include "cuda/types.h"
#include "devices/rows.h"

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

#define MSL_FORMS_ONE MSL_HOOK
#define MSL_FORMS_DS(...) MSL_HOOK_FORMS(_ptds, __VA_ARGS__)
#define MSL_FORMS_SZ(...) MSL_HOOK_FORMS(_ptsz, __VA_ARGS__)
#define MSL_FORMS_CUDA_DS MSL_FORMS_DS
#define MSL_FORMS_CUDA_SZ MSL_FORMS_SZ
#define MSL_FORMS_WITH_ONE MSL_HOOK_WITH
#define MSL_FORMS_WITH_DS(body, ...) MSL_HOOK_FORMS_WITH(body, _ptds, __VA_ARGS__)
#define MSL_FORMS_WITH_SZ(body, ...) MSL_HOOK_FORMS_WITH(body, _ptsz, __VA_ARGS__)
#define MSL_FORMS_WITH_CUDA_DS MSL_FORMS_WITH_DS
#define MSL_FORMS_WITH_CUDA_SZ MSL_FORMS_WITH_SZ

#define MSL_RUNTIME(forms, name, parameters) MSL_FORMS_##forms(libcudart, cudaError_t, cuda##name, parameters)
#define MSL_RUNTIME_WITH(body, forms, name, parameters)                                                                \
  MSL_FORMS_WITH_##forms(body, libcudart, cudaError_t, cuda##name, parameters)
#define MSL_RUNTIME_NAMED(body, name, parameters) MSL_HOOK_NAMED(body, libcudart, cudaError_t, cuda##name, parameters)
#define MSL_DRIVER(forms, name, parameters) MSL_FORMS_##forms(libcuda, CUresult, cu##name, parameters)
#define MSL_DRIVER_V2(forms, name, parameters) MSL_FORMS_##forms(libcuda, CUresult, cu##name##_v2, parameters)
#define MSL_DRIVER_WITH(body, forms, name, parameters)                                                                 \
  MSL_FORMS_WITH_##forms(body, libcuda, CUresult, cu##name, parameters)
#define MSL_DRIVER_V2_WITH(body, forms, name, parameters)                                                              \
  MSL_FORMS_WITH_##forms(body, libcuda, CUresult, cu##name##_v2, parameters)
