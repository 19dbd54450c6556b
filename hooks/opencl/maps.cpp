// Hooks of OpenCL's functions that map memory, so that the program can access it. A flag of the call says whether the
// program reads or writes the memory. The effects of a row cannot express this.
#include "opencl/calls.h"

using namespace msleaks;
using namespace msleaks::hooks::cl;

namespace {

// CL_MAP_READ and CL_MAP_WRITE_INVALIDATE_REGION. CL_MAP_WRITE counts as read and write, because the program sees the
// old content and may keep it.
constexpr Bits kToRead = 1, kToReplace = 4;

// The function's row, without the source if the program does not read, and without the address if it does not write.
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

#define MSL_PART_MAPS
#include "msleaks/abi/functions/opencl.def"
