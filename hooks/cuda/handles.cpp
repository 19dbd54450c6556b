// Hooks of functions of CUDA's runtime library and driver that open and close handles: streams, events, modules and
// graphs. cuda/contexts.cpp has the hooks for contexts, cuda/graphs.cpp has those that unload modules, and
// cuda/graph_memory.cpp has those that make graphs ready to run, and destroy them.
#include "cuda/types.h"

MSL_HOOK(libcudart, cudaError_t, cudaStreamCreate, (cudaStream_t *))
MSL_HOOK(libcudart, cudaError_t, cudaStreamCreateWithFlags, (cudaStream_t *, unsigned))
MSL_HOOK(libcudart, cudaError_t, cudaStreamCreateWithPriority, (cudaStream_t *, unsigned, int))
MSL_HOOK(libcudart, cudaError_t, cudaExecutionCtxStreamCreate, (cudaStream_t *, cudaExecutionContext_t, unsigned, int))
MSL_HOOK(libcudart, cudaError_t, cudaStreamDestroy, (cudaStream_t))
MSL_HOOK(libcudart, cudaError_t, cudaEventCreate, (cudaEvent_t *))
MSL_HOOK(libcudart, cudaError_t, cudaEventCreateWithFlags, (cudaEvent_t *, unsigned))
MSL_HOOK(libcudart, cudaError_t, cudaEventDestroy, (cudaEvent_t))
MSL_HOOK(libcudart, cudaError_t, cudaGraphCreate, (cudaGraph_t *, unsigned))
MSL_HOOK(libcudart, cudaError_t, cudaGraphClone, (cudaGraph_t *, cudaGraph_t))
MSL_HOOK(libcudart, cudaError_t, cudaStreamEndCapture, (cudaStream_t, cudaGraph_t *))
MSL_HOOK(libcudart, cudaError_t, cudaStreamEndCapture_ptsz, (cudaStream_t, cudaGraph_t *))

MSL_HOOK(libcuda, CUresult, cuStreamCreate, (CUstream *, unsigned))
MSL_HOOK(libcuda, CUresult, cuStreamCreateWithPriority, (CUstream *, unsigned, int))
MSL_HOOK(libcuda, CUresult, cuGreenCtxStreamCreate, (CUstream *, CUgreenCtx, unsigned, int))
MSL_HOOK(libcuda, CUresult, cuStreamDestroy_v2, (CUstream))
MSL_HOOK(libcuda, CUresult, cuEventCreate, (CUevent *, unsigned))
MSL_HOOK(libcuda, CUresult, cuEventDestroy_v2, (CUevent))
MSL_HOOK(libcuda, CUresult, cuModuleLoad, (CUmodule *, const char *))
MSL_HOOK(libcuda, CUresult, cuModuleLoadData, (CUmodule *, const void *))
MSL_HOOK(libcuda, CUresult, cuModuleLoadDataEx, (CUmodule *, const void *, unsigned, CUjit_option *, void **))
MSL_HOOK(libcuda, CUresult, cuModuleLoadFatBinary, (CUmodule *, const void *))
MSL_HOOK(libcuda, CUresult, cuLibraryLoadData,
         (CUlibrary *, const void *, CUjit_option *, void **, unsigned, CUlibraryOption *, void **, unsigned))
MSL_HOOK(libcuda, CUresult, cuLibraryLoadFromFile,
         (CUlibrary *, const char *, CUjit_option *, void **, unsigned, CUlibraryOption *, void **, unsigned))
MSL_HOOK(libcuda, CUresult, cuGraphCreate, (CUgraph *, unsigned))
MSL_HOOK(libcuda, CUresult, cuGraphClone, (CUgraph *, CUgraph))
MSL_HOOK(libcuda, CUresult, cuStreamEndCapture, (CUstream, CUgraph *))
MSL_HOOK(libcuda, CUresult, cuStreamEndCapture_ptsz, (CUstream, CUgraph *))
