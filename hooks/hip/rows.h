// Defines for HIP the types and macros of the rows that it shares with CUDA (devices/rows.h).
#pragma once

#include "devices/rows.h"
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

#define MSL_FORMS_ONE(...) MSL_HOOK(libamdhip64, hipError_t, __VA_ARGS__)
#define MSL_FORMS_DS(...) MSL_HOOK_FORMS(_spt, libamdhip64, hipError_t, __VA_ARGS__)
#define MSL_FORMS_SZ MSL_FORMS_DS
#define MSL_FORMS_CUDA_DS MSL_FORMS_ONE
#define MSL_FORMS_CUDA_SZ MSL_FORMS_ONE
#define MSL_FORMS_WITH_ONE(body, ...) MSL_HOOK_WITH(body, libamdhip64, hipError_t, __VA_ARGS__)
#define MSL_FORMS_WITH_DS(body, ...) MSL_HOOK_FORMS_WITH(body, _spt, libamdhip64, hipError_t, __VA_ARGS__)
#define MSL_FORMS_WITH_SZ MSL_FORMS_WITH_DS
#define MSL_FORMS_WITH_CUDA_DS MSL_FORMS_WITH_ONE
#define MSL_FORMS_WITH_CUDA_SZ MSL_FORMS_WITH_ONE

#define MSL_RUNTIME(forms, name, parameters) MSL_FORMS_##forms(hip##name, parameters)
#define MSL_RUNTIME_WITH(body, forms, name, parameters) MSL_FORMS_WITH_##forms(body, hip##name, parameters)
#define MSL_RUNTIME_NAMED(body, name, parameters) MSL_HOOK_NAMED(body, libamdhip64, hipError_t, hip##name, parameters)
#define MSL_DRIVER MSL_RUNTIME
#define MSL_DRIVER_V2 MSL_RUNTIME
#define MSL_DRIVER_WITH MSL_RUNTIME_WITH
#define MSL_DRIVER_V2_WITH MSL_RUNTIME_WITH
