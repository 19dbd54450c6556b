// Hooks of HIP's functions that allocate, free and use memory of graphs (devices/graph_memory.h). An allocation in the
// order of a stream may be captured into a graph.
#include "devices/graph_memory.h"
#include "devices/device.h"
#include "devices/forms.h"
#include "hip/types.h"

using namespace msleaks;
using namespace msleaks::hooks;

namespace {

constexpr auto kHip = abi::Family::Hip;

MSL_ASKED(capture_info, "libamdhip64", "hipStreamGetCaptureInfo_v2")
MSL_ASKED(look_at_error, "libamdhip64", "hipPeekAtLastError")
MSL_ASKED(take_error, "libamdhip64", "hipGetLastError")

// HIP refuses to answer for the default stream while another stream is captured. Then the default stream is not.
constexpr auto kGraphOf = [](const void *stream) -> uint64_t {
  using Ask = int(const void *, int *, uint64_t *, void **, const void *, size_t *);
  constexpr int kActive = 1;
  int state = 0;
  uint64_t id = 0;
  void *graph = nullptr;
  const int32_t status = leavingLastError({look_at_error, take_error}, [&] {
    return callReal<Ask>(capture_info, stream, &state, &id, &graph, nullptr, nullptr);
  });
  return status == 0 && state == kActive ? numberOf(graph) : 0;
};

template <hook::Name kName> constexpr auto kAllocs = kAllocInOrder<hook::Known<kName>, kGraphOf>;
template <hook::Name kName> constexpr auto kFrees = kFreeInOrder<hook::Known<kName>, kGraphOf>;
template <hook::Name kName> constexpr auto kMade = kInstantiated<hook::Known<kName>>;
template <hook::Name kName> constexpr auto kGone = kGraphGone<hook::Known<kName>>;

constexpr auto kLastOne = [](auto, auto... rest) -> const void * { return lastOf(rest...); };
constexpr auto kNode = kAnyNode<kHip, kLastOne>;

} // namespace

MSL_HOOK_WITH(kAllocs<"hipMallocAsync">, libamdhip64, hipError_t, hipMallocAsync, (void **, size_t, hipStream_t))
MSL_HOOK_WITH(kAllocs<"hipMallocFromPoolAsync">, libamdhip64, hipError_t, hipMallocFromPoolAsync,
              (void **, size_t, hipMemPool_t, hipStream_t))
MSL_HOOK_WITH(kFrees<"hipFreeAsync">, libamdhip64, hipError_t, hipFreeAsync, (void *, hipStream_t))

MSL_HOOK_WITH(kAllocNode<kHip>, libamdhip64, hipError_t, hipGraphAddMemAllocNode,
              (hipGraphNode_t *, hipGraph_t, const hipGraphNode_t *, size_t, hipMemAllocNodeParams *))
MSL_HOOK_WITH(kFreeNode<kHip>, libamdhip64, hipError_t, hipGraphAddMemFreeNode,
              (hipGraphNode_t *, hipGraph_t, const hipGraphNode_t *, size_t, void *))
MSL_HOOK_WITH(kFreeNode<kHip>, libamdhip64, hipError_t, hipDrvGraphAddMemFreeNode,
              (hipGraphNode_t *, hipGraph_t, const hipGraphNode_t *, size_t, hipDeviceptr_t))
MSL_HOOK_WITH(kNode, libamdhip64, hipError_t, hipGraphAddNode,
              (hipGraphNode_t *, hipGraph_t, const hipGraphNode_t *, size_t, hipGraphNodeParams *))

MSL_HOOK_WITH(kMade<"hipGraphInstantiate">, libamdhip64, hipError_t, hipGraphInstantiate,
              (hipGraphExec_t *, hipGraph_t, hipGraphNode_t *, char *, size_t))
MSL_HOOK_WITH(kMade<"hipGraphInstantiateWithFlags">, libamdhip64, hipError_t, hipGraphInstantiateWithFlags,
              (hipGraphExec_t *, hipGraph_t, unsigned long long))
MSL_HOOK_WITH(kMade<"hipGraphInstantiateWithParams">, libamdhip64, hipError_t, hipGraphInstantiateWithParams,
              (hipGraphExec_t *, hipGraph_t, hipGraphInstantiateParams *))
MSL_HOOK_FORMS_WITH(kGraphLaunched<kHip>, _spt, libamdhip64, hipError_t, hipGraphLaunch, (hipGraphExec_t, hipStream_t))
MSL_HOOK_WITH(kGone<"hipGraphDestroy">, libamdhip64, hipError_t, hipGraphDestroy, (hipGraph_t))
MSL_HOOK_WITH(kGone<"hipGraphExecDestroy">, libamdhip64, hipError_t, hipGraphExecDestroy, (hipGraphExec_t))
