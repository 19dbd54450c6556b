// Hooks of functions of HIP that open and close handles: streams, events, contexts, modules and graphs.
// hip/graph_memory.cpp has the hooks that make graphs ready to run, and destroy them.
#include "hip/types.h"

MSL_HOOK(libamdhip64, hipError_t, hipStreamCreate, (hipStream_t *))
MSL_HOOK(libamdhip64, hipError_t, hipStreamCreateWithFlags, (hipStream_t *, unsigned))
MSL_HOOK(libamdhip64, hipError_t, hipStreamCreateWithPriority, (hipStream_t *, unsigned, int))
MSL_HOOK(libamdhip64, hipError_t, hipStreamDestroy, (hipStream_t))
MSL_HOOK(libamdhip64, hipError_t, hipEventCreate, (hipEvent_t *))
MSL_HOOK(libamdhip64, hipError_t, hipEventCreateWithFlags, (hipEvent_t *, unsigned))
MSL_HOOK(libamdhip64, hipError_t, hipEventDestroy, (hipEvent_t))
MSL_HOOK(libamdhip64, hipError_t, hipCtxCreate, (hipCtx_t *, unsigned, hipDevice_t))
MSL_HOOK(libamdhip64, hipError_t, hipCtxDestroy, (hipCtx_t))
MSL_HOOK(libamdhip64, hipError_t, hipModuleLoad, (hipModule_t *, const char *))
MSL_HOOK(libamdhip64, hipError_t, hipModuleLoadData, (hipModule_t *, const void *))
MSL_HOOK(libamdhip64, hipError_t, hipModuleLoadDataEx, (hipModule_t *, const void *, unsigned, hipJitOption *, void **))
MSL_HOOK(libamdhip64, hipError_t, hipGraphCreate, (hipGraph_t *, unsigned))
MSL_HOOK(libamdhip64, hipError_t, hipGraphClone, (hipGraph_t *, hipGraph_t))
MSL_HOOK(libamdhip64, hipError_t, hipStreamEndCapture, (hipStream_t, hipGraph_t *))
MSL_HOOK(libamdhip64, hipError_t, hipStreamEndCapture_spt, (hipStream_t, hipGraph_t *))
