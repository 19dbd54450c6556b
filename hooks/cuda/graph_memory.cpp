// Hooks of CUDA's functions that allocate, free and use memory of graphs (devices/graph_memory.h). An allocation in the
// order of a stream may be captured into a graph.
#include "devices/graph_memory.h"
#include "core/rows.h"
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
#endif

using namespace msleaks;
using namespace msleaks::hooks;

namespace {

MSL_ASKED(of_driver, "libcuda", "cuStreamGetCaptureInfo_v2")
MSL_ASKED(of_runtime, "libcudart", "cudaStreamGetCaptureInfo_v2")

constexpr auto kAsk = [](auto... arguments) { return cuda::ask<CaptureInfo>({of_driver, of_runtime}, arguments...); };
constexpr auto kGraphOf = [](const void *stream) { return capturedGraph<kAsk>(stream); };
// In the form for programs with one default stream per thread, the null stream is the thread's own.
template <hook::Name kName>
constexpr auto kGraphFor = [](const void *stream) {
  constexpr bool kIsOfThread = std::string_view(kName.text).ends_with("_ptsz");
  constexpr uintptr_t kPerThread = 2;
  return kGraphOf(kIsOfThread && stream == nullptr ? reinterpret_cast<const void *>(kPerThread) : stream);
};

template <hook::Name kName> constexpr auto kAllocs = kAllocInOrder<hook::Known<kName>, kGraphFor<kName>>;
template <hook::Name kName> constexpr auto kFrees = kFreeInOrder<hook::Known<kName>, kGraphFor<kName>>;
// Until version 12, the description is the last parameter but one: there are no data of edges.
constexpr auto kLastOfRuntime = [](auto real, auto... rest) -> const void * {
  const void *last[] = {reinterpret_cast<const void *>(rest)...};
  return last[sizeof...(rest) - (isBefore13(reinterpret_cast<const void *>(real)) ? 2 : 1)];
};
constexpr auto kNode = kAnyNode<kVendor, kLastOne>;
constexpr auto kNodeOfRuntime = kAnyNode<kVendor, kLastOfRuntime>;

} // namespace

#define MSL_PART_GRAPHS
#include "msleaks/abi/functions/cuda.def"
