// Hooks of functions of CUDA's runtime library and driver that open and close handles: streams, events, modules and
// graphs. cuda/contexts.cpp has the hooks for contexts, and cuda/graphs.cpp has those that unload modules.
#include "msleaks/hook.h"

#include <cstddef>

#ifdef MSL_VENDOR_HEADERS
#include <cuda.h>
#include <cuda_runtime_api.h>
#define MSL_GRAPH_INSTANTIATE (cudaGraphExec_t *, cudaGraph_t, unsigned long long)
#else
using cudaError_t = int;
using cudaStream_t = void *;
using cudaEvent_t = void *;
using cudaGraph_t = void *;
using cudaGraphExec_t = void *;
using cudaGraphInstantiateParams = void;
using CUresult = int;
using CUstream = void *;
using CUevent = void *;
using CUmodule = void *;
using CUlibrary = void *;
using CUgraph = void *;
using CUgraphExec = void *;
using CUjit_option = int;
using CUlibraryOption = int;
using CUDA_GRAPH_INSTANTIATE_PARAMS = void;
// Up to CUDA 11, a node, a text and its size follow the graph. Later, only flags do. All are in registers, so this list
// fits both.
#define MSL_GRAPH_INSTANTIATE (cudaGraphExec_t *, cudaGraph_t, unsigned long long, void *, size_t)
#endif

MSL_HOOK(libcudart, cudaError_t, cudaStreamCreate, (cudaStream_t *))
MSL_HOOK(libcudart, cudaError_t, cudaStreamCreateWithFlags, (cudaStream_t *, unsigned))
MSL_HOOK(libcudart, cudaError_t, cudaStreamCreateWithPriority, (cudaStream_t *, unsigned, int))
MSL_HOOK(libcudart, cudaError_t, cudaStreamDestroy, (cudaStream_t))
MSL_HOOK(libcudart, cudaError_t, cudaEventCreate, (cudaEvent_t *))
MSL_HOOK(libcudart, cudaError_t, cudaEventCreateWithFlags, (cudaEvent_t *, unsigned))
MSL_HOOK(libcudart, cudaError_t, cudaEventDestroy, (cudaEvent_t))
MSL_HOOK(libcudart, cudaError_t, cudaGraphCreate, (cudaGraph_t *, unsigned))
MSL_HOOK(libcudart, cudaError_t, cudaGraphClone, (cudaGraph_t *, cudaGraph_t))
MSL_HOOK(libcudart, cudaError_t, cudaStreamEndCapture, (cudaStream_t, cudaGraph_t *))
MSL_HOOK(libcudart, cudaError_t, cudaStreamEndCapture_ptsz, (cudaStream_t, cudaGraph_t *))
MSL_HOOK(libcudart, cudaError_t, cudaGraphInstantiate, MSL_GRAPH_INSTANTIATE)
MSL_HOOK(libcudart, cudaError_t, cudaGraphInstantiateWithFlags, (cudaGraphExec_t *, cudaGraph_t, unsigned long long))
MSL_HOOK(libcudart, cudaError_t, cudaGraphInstantiateWithParams,
         (cudaGraphExec_t *, cudaGraph_t, cudaGraphInstantiateParams *))
MSL_HOOK(libcudart, cudaError_t, cudaGraphInstantiateWithParams_ptsz,
         (cudaGraphExec_t *, cudaGraph_t, cudaGraphInstantiateParams *))
MSL_HOOK(libcudart, cudaError_t, cudaGraphDestroy, (cudaGraph_t))
MSL_HOOK(libcudart, cudaError_t, cudaGraphExecDestroy, (cudaGraphExec_t))

MSL_HOOK(libcuda, CUresult, cuStreamCreate, (CUstream *, unsigned))
MSL_HOOK(libcuda, CUresult, cuStreamCreateWithPriority, (CUstream *, unsigned, int))
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
MSL_HOOK(libcuda, CUresult, cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, unsigned long long))
MSL_HOOK(libcuda, CUresult, cuGraphInstantiateWithParams, (CUgraphExec *, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS *))
MSL_HOOK(libcuda, CUresult, cuGraphInstantiateWithParams_ptsz,
         (CUgraphExec *, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS *))
MSL_HOOK(libcuda, CUresult, cuGraphDestroy, (CUgraph))
MSL_HOOK(libcuda, CUresult, cuGraphExecDestroy, (CUgraphExec))
