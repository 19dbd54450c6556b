// Hooks of CUDA's functions that allocate, free and use memory of graphs (devices/graph_memory.h). An allocation in the
// order of a stream may be captured into a graph.
#include "devices/graph_memory.h"
#include "cuda/ask.h"
#include "cuda/rows.h"
#include "cuda/runtime_version.h"

#ifdef MSL_VENDOR_HEADERS
static_assert(offsetof(CUDA_MEM_ALLOC_NODE_PARAMS, bytesize) == offsetof(msleaks::hooks::AllocNode, bytes));
static_assert(offsetof(CUDA_MEM_ALLOC_NODE_PARAMS, dptr) == offsetof(msleaks::hooks::AllocNode, address));
static_assert(offsetof(cudaMemAllocNodeParams, bytesize) == offsetof(msleaks::hooks::AllocNode, bytes));
static_assert(offsetof(cudaMemAllocNodeParams, dptr) == offsetof(msleaks::hooks::AllocNode, address));
static_assert(offsetof(CUgraphNodeParams, alloc) == offsetof(msleaks::hooks::AnyNode, memory));
static_assert(int{CU_GRAPH_NODE_TYPE_MEM_ALLOC} == 10 && int{CU_GRAPH_NODE_TYPE_MEM_FREE} == 11);
#define MSL_GRAPH_INSTANTIATE (cudaGraphExec_t *, cudaGraph_t, unsigned long long)
#else
// Up to CUDA 11, a node, a text and its size follow the graph. Later, only flags do. All are in registers, so this list
// fits both.
#define MSL_GRAPH_INSTANTIATE (cudaGraphExec_t *, cudaGraph_t, unsigned long long, void *, size_t)
#endif

using namespace msleaks;
using namespace msleaks::hooks;

namespace {

MSL_ASKED(of_driver, "libcuda", "cuStreamGetCaptureInfo_v2")
MSL_ASKED(of_runtime, "libcudart", "cudaStreamGetCaptureInfo_v2")

constexpr auto kAsk = [](auto... arguments) { return cuda::ask<CaptureInfo>({of_driver, of_runtime}, arguments...); };
constexpr auto kGraphOf = [](const void *stream) { return capturedGraph<kAsk>(stream); };
// The null stream is the thread's own.
constexpr auto kGraphOfThreads = [](const void *stream) {
  constexpr uintptr_t kPerThread = 2;
  return kGraphOf(stream != nullptr ? stream : reinterpret_cast<const void *>(kPerThread));
};

template <hook::Name kName> constexpr auto kAllocs = kAllocInOrder<hook::Known<kName>, kGraphOf>;
template <hook::Name kName> constexpr auto kAllocsOfThread = kAllocInOrder<hook::Known<kName>, kGraphOfThreads>;
template <hook::Name kName> constexpr auto kFrees = kFreeInOrder<hook::Known<kName>, kGraphOf>;
template <hook::Name kName> constexpr auto kFreesOfThread = kFreeInOrder<hook::Known<kName>, kGraphOfThreads>;
// Until version 12, the description is the last parameter but one: there are no data of edges.
constexpr auto kLastOfRuntime = [](auto real, auto... rest) -> const void * {
  const void *last[] = {reinterpret_cast<const void *>(rest)...};
  return last[sizeof...(rest) - (isBefore13(reinterpret_cast<const void *>(real)) ? 2 : 1)];
};
constexpr auto kNode = kAnyNode<kVendor, kLastOne>;
constexpr auto kNodeOfRuntime = kAnyNode<kVendor, kLastOfRuntime>;

} // namespace

#define MSL_IN_ORDER(body, library, result, name, parameters)                                                          \
  MSL_HOOK_WITH(body<#name>, library, result, name, parameters)                                                        \
  MSL_HOOK_WITH(body##OfThread<#name "_ptsz">, library, result, name##_ptsz, parameters)

MSL_IN_ORDER(kAllocs, libcudart, cudaError_t, cudaMallocAsync, (void **, size_t, cudaStream_t))
MSL_IN_ORDER(kAllocs, libcudart, cudaError_t, cudaMallocFromPoolAsync, (void **, size_t, cudaMemPool_t, cudaStream_t))
MSL_IN_ORDER(kFrees, libcudart, cudaError_t, cudaFreeAsync, (void *, cudaStream_t))
MSL_IN_ORDER(kAllocs, libcuda, CUresult, cuMemAllocAsync, (CUdeviceptr *, size_t, CUstream))
MSL_IN_ORDER(kAllocs, libcuda, CUresult, cuMemAllocFromPoolAsync, (CUdeviceptr *, size_t, CUmemoryPool, CUstream))
MSL_IN_ORDER(kFrees, libcuda, CUresult, cuMemFreeAsync, (CUdeviceptr, CUstream))

#include "devices/graph_rows.def"

#if defined(CUDART_VERSION) && CUDART_VERSION < 13000
MSL_HOOK_WITH(kNode, libcudart, cudaError_t, cudaGraphAddNode,
              (cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, cudaGraphNodeParams *))
#else
MSL_HOOK_WITH(kNodeOfRuntime, libcudart, cudaError_t, cudaGraphAddNode,
              (cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, const cudaGraphEdgeData *, size_t,
               cudaGraphNodeParams *))
#endif
MSL_HOOK_WITH(kNode, libcudart, cudaError_t, cudaGraphAddNode_v2,
              (cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, const cudaGraphEdgeData *, size_t,
               cudaGraphNodeParams *))
MSL_HOOK_WITH(kAllocNode<kVendor>, libcuda, CUresult, cuGraphAddMemAllocNode,
              (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUDA_MEM_ALLOC_NODE_PARAMS *))
MSL_HOOK_WITH(kFreeNode<kVendor>, libcuda, CUresult, cuGraphAddMemFreeNode,
              (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUdeviceptr))
MSL_HOOK_WITH(kNode, libcuda, CUresult, cuGraphAddNode,
              (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUgraphNodeParams *))
MSL_HOOK_WITH(kNode, libcuda, CUresult, cuGraphAddNode_v2,
              (CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUgraphNodeParams *))
MSL_HOOK_WITH(kNode, libcuda, CUresult, cuGraphAddNode_v3,
              (CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUgraphNodeParams *))

MSL_HOOK_NAMED(kInstantiated, libcudart, cudaError_t, cudaGraphInstantiate, MSL_GRAPH_INSTANTIATE)
MSL_HOOK_NAMED(kInstantiated, libcudart, cudaError_t, cudaGraphInstantiateWithParams_ptsz,
               (cudaGraphExec_t *, cudaGraph_t, cudaGraphInstantiateParams *))
MSL_HOOK_NAMED(kInstantiated, libcuda, CUresult, cuGraphInstantiateWithFlags,
               (CUgraphExec *, CUgraph, unsigned long long))
MSL_HOOK_FORMS_NAMED(kInstantiated, _ptsz, libcuda, CUresult, cuGraphInstantiateWithParams,
                     (CUgraphExec *, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS *))
MSL_HOOK_FORMS_WITH(kGraphLaunched<kVendor>, _ptsz, libcuda, CUresult, cuGraphLaunch, (CUgraphExec, CUstream))
MSL_HOOK_NAMED(kGraphGone, libcuda, CUresult, cuGraphDestroy, (CUgraph))
MSL_HOOK_NAMED(kGraphGone, libcuda, CUresult, cuGraphExecDestroy, (CUgraphExec))
