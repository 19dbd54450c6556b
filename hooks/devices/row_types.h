// The types in the rows that CUDA and HIP share (msleaks/abi/functions/gpu.def), if they differ only in the beginning
// of their names. cuda/rows.h and hip/rows.h include this file, after the types and a definition of MSL_TYPE_OF_VENDOR.
#pragma once

using Stream = MSL_TYPE_OF_VENDOR(Stream_t);
using Event = MSL_TYPE_OF_VENDOR(Event_t);
using Graph = MSL_TYPE_OF_VENDOR(Graph_t);
using GraphExec = MSL_TYPE_OF_VENDOR(GraphExec_t);
using NodeHandle = MSL_TYPE_OF_VENDOR(GraphNode_t);
using InstantiateParams = MSL_TYPE_OF_VENDOR(GraphInstantiateParams);
using AllocNodeParams = MSL_TYPE_OF_VENDOR(MemAllocNodeParams);
using Pool = MSL_TYPE_OF_VENDOR(MemPool_t);
using PoolPointer = MSL_TYPE_OF_VENDOR(MemPoolPtrExportData);
using IpcHandle = MSL_TYPE_OF_VENDOR(IpcMemHandle_t);
using External = MSL_TYPE_OF_VENDOR(ExternalMemory_t);
using ExternalBuffer = MSL_TYPE_OF_VENDOR(ExternalMemoryBufferDesc);
using ExternalSource = MSL_TYPE_OF_VENDOR(ExternalMemoryHandleDesc);
using ForeignSemaphore = MSL_TYPE_OF_VENDOR(ExternalSemaphore_t);
using SemaphoreSource = MSL_TYPE_OF_VENDOR(ExternalSemaphoreHandleDesc);
using IpcEvent = MSL_TYPE_OF_VENDOR(IpcEventHandle_t);
using PoolWish = MSL_TYPE_OF_VENDOR(MemPoolProps);
using PoolKind = MSL_TYPE_OF_VENDOR(MemAllocationHandleType);
using Texture = MSL_TYPE_OF_VENDOR(TextureObject_t);
using Surface = MSL_TYPE_OF_VENDOR(SurfaceObject_t);
using Resource = MSL_TYPE_OF_VENDOR(ResourceDesc);
using TextureWish = MSL_TYPE_OF_VENDOR(TextureDesc);
using ResourceView = MSL_TYPE_OF_VENDOR(ResourceViewDesc);
using Kind = MSL_TYPE_OF_VENDOR(MemcpyKind);
using Array = MSL_TYPE_OF_VENDOR(Array_t);
using ConstArray = MSL_TYPE_OF_VENDOR(Array_const_t);
using Mipmapped = MSL_TYPE_OF_VENDOR(MipmappedArray_t);
using ElementFormat = MSL_TYPE_OF_VENDOR(ChannelFormatDesc);
using Volume = MSL_TYPE_OF_VENDOR(Extent);
using Pitched = MSL_TYPE_OF_VENDOR(PitchedPtr);
using VolumeParms = MSL_TYPE_OF_VENDOR(Memcpy3DParms);
