// Hooks of HIP's functions that allocate, free and use memory of graphs (devices/graph_memory.h). An allocation in the
// order of a stream may be captured into a graph.
#include "devices/graph_memory.h"
#include "core/rows.h"
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

#define MSL_PART_GRAPHS
#include "msleaks/abi/functions/hip.def"
