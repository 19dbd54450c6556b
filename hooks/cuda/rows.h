// Defines for CUDA the types in the rows that it shares with HIP (msleaks/abi/functions/gpu.def).
#pragma once

#define MSL_TYPE_OF_VENDOR(name) cuda##name
#include "cuda/types.h"

#include "devices/row_types.h"

constexpr auto kVendor = msleaks::abi::Family::Cuda;

using Module = CUmodule;
using JitOption = CUjit_option;
using ExternalArray = cudaExternalMemoryMipmappedArrayDesc;
using DriverResource = CUDA_RESOURCE_DESC;
using DriverTextureWish = CUDA_TEXTURE_DESC;
using DriverResourceView = CUDA_RESOURCE_VIEW_DESC;
using LinkState = CUlinkState;
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
