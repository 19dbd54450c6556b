// Defines for HIP the types in the rows that it shares with CUDA (msleaks/abi/functions/gpu.def).
#pragma once

#define MSL_TYPE_OF_VENDOR(name) hip##name
#include "hip/types.h"

#include "devices/row_types.h"

constexpr auto kVendor = msleaks::abi::Family::Hip;

using Module = hipModule_t;
using JitOption = hipJitOption;
struct ExternalArray { // HIP 5 does not have it
  unsigned long long offset;
  hipChannelFormatDesc formatDesc;
  hipExtent extent;
  unsigned flags, numLevels;
};
using DriverResource = HIP_RESOURCE_DESC;
using DriverTextureWish = HIP_TEXTURE_DESC;
using DriverResourceView = HIP_RESOURCE_VIEW_DESC;
using LinkState = hipLinkState_t;
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
