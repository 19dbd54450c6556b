// Memory of OpenCL that a program maps, to read or to write it itself: a parameter of the call says which, and a row
// cannot.
#include "msleaks/hook.h"

#include <cstddef>

using namespace msleaks;

using Queue = void *;
using Mem = void *;
using Bits = uint64_t;
using Sizes = const uint64_t *;
using Events = const void *;
using Event = void *;

namespace {

// CL_MAP_READ, CL_MAP_WRITE_INVALIDATE_REGION. With CL_MAP_WRITE what was there is seen, too, and may stay.
constexpr Bits kToRead = 1, kToReplace = 4;

// The function's row, of which only so much is true.
template <hook::Name kName, bool kReads, bool kWrites> struct MapRow : hook::Known<kName> {
  static constexpr abi::Symbol kRow = [] {
    abi::Symbol row = hook::Known<kName>::kRow;
    if (!kReads)
      row.source = {};
    if (!kWrites)
      row.address = {};
    return row;
  }();
};

template <hook::Name kName, int kFlagsAt> struct Map {
  template <class Real, class... Parameters> auto operator()(Real real, void *caller, Parameters... parameters) const {
    const Bits flags = hook::Arguments<Parameters...>(parameters...).template word<kFlagsAt>();
    if ((flags & kToReplace) != 0)
      return hook::callRecorded<MapRow<kName, false, true>>(real, caller, parameters...);
    if (flags == kToRead)
      return hook::callRecorded<MapRow<kName, true, false>>(real, caller, parameters...);
    return hook::callRecorded<MapRow<kName, true, true>>(real, caller, parameters...);
  }
};

constexpr Map<"clEnqueueMapBuffer", 3> kMapBuffer;
constexpr Map<"clEnqueueMapImage", 3> kMapImage;
constexpr Map<"clEnqueueSVMMap", 2> kMapShared;

} // namespace

MSL_HOOK_WITH(kMapBuffer, libOpenCL, void *, clEnqueueMapBuffer,
              (Queue, Mem, unsigned, Bits, size_t, size_t, unsigned, Events, Event *, int *))
MSL_HOOK_WITH(kMapImage, libOpenCL, void *, clEnqueueMapImage,
              (Queue, Mem, unsigned, Bits, Sizes, Sizes, size_t *, size_t *, unsigned, Events, Event *, int *))
MSL_HOOK_WITH(kMapShared, libOpenCL, int, clEnqueueSVMMap,
              (Queue, unsigned, Bits, void *, size_t, unsigned, Events, Event *))
