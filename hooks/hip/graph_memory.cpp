// Hooks of HIP's functions that allocate, free and use memory of graphs (devices/graph_memory.h). An allocation in the
// order of a stream may be captured into a graph.
#include "devices/graph_memory.h"
#include "hip/ask.h"
#include "hip/rows.h"

using namespace msleaks;
using namespace msleaks::hooks;

namespace {

MSL_ASKED(capture_info, "libamdhip64", "hipStreamGetCaptureInfo_v2")

constexpr auto kAsk = [](auto... arguments) { return hip::ask<CaptureInfo>(capture_info, arguments...); };
constexpr auto kGraphOf = [](const void *stream) { return capturedGraph<kAsk>(stream); };
template <hook::Name kName> constexpr auto kAllocs = kAllocInOrder<hook::Known<kName>, kGraphOf>;
template <hook::Name kName> constexpr auto kFrees = kFreeInOrder<hook::Known<kName>, kGraphOf>;
constexpr auto kNode = kAnyNode<kVendor, kLastOne>;

} // namespace

#include "devices/graph_rows.def"

MSL_HOOK_NAMED(kAllocs, libamdhip64, hipError_t, hipMallocAsync, (void **, size_t, hipStream_t))
MSL_HOOK_NAMED(kAllocs, libamdhip64, hipError_t, hipMallocFromPoolAsync, (void **, size_t, hipMemPool_t, hipStream_t))
MSL_HOOK_NAMED(kFrees, libamdhip64, hipError_t, hipFreeAsync, (void *, hipStream_t))
MSL_HOOK_WITH(kFreeNode<kVendor>, libamdhip64, hipError_t, hipDrvGraphAddMemFreeNode,
              (hipGraphNode_t *, hipGraph_t, const hipGraphNode_t *, size_t, hipDeviceptr_t))
MSL_HOOK_WITH(kNode, libamdhip64, hipError_t, hipGraphAddNode,
              (hipGraphNode_t *, hipGraph_t, const hipGraphNode_t *, size_t, hipGraphNodeParams *))
MSL_HOOK_NAMED(kInstantiated, libamdhip64, hipError_t, hipGraphInstantiate,
               (hipGraphExec_t *, hipGraph_t, hipGraphNode_t *, char *, size_t))
