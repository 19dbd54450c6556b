// Hooks of ACL of Ascend CANN, and of the runtime below it.
#include "ascend/forms.h"
#include "devices/batches.h"
#include "devices/contexts.h"
#include "devices/device.h"

#include "msleaks/api.h"

#include <cstddef>
#include <cstdint>

using Stream = void *;
using Event = void *;
using Context = void *;
using Handle = void *;
using Config = void *;

using namespace msleaks;
using namespace msleaks::hooks;

namespace {

// The driver has memory of its own from aclInit to aclFinalize. Both calls are recorded as marks.
constexpr auto kInit = [](auto real, void *, const char *configuration) {
  const int status = real(configuration);
  if (status == 0)
    msl_mark("aclInit");
  return status;
};
constexpr auto kFinalize = [](auto real, void *) {
  msl_mark("aclFinalize");
  return real();
};

// The launch gets the address of the kernel's name instead of a handle. A later kernel's name may have the same
// address, so each launch reports its name. The table of functions has no effect of this function: otherwise the plugin
// would insert a callback before the name is known.
struct NamedLaunch {
  static constexpr abi::Symbol kRow = {.name = "rtAicpuKernelLaunchExWithArgs",
                                       .verb = abi::Verb::Launch,
                                       .family = abi::Family::Acl,
                                       .heap = abi::Heap::Device,
                                       .kernel = abi::Position(1),
                                       .stream = abi::Position(5),
                                       .shape = {abi::ShapeKind::Blocks, abi::Position(2)},
                                       .status = true};
};
constexpr auto kNamedLaunch = [](auto real, void *caller, uint32_t type, const char *name, auto... more) {
  constexpr abi::Symbol kRow = NamedLaunch::kRow;
  if (__msl_hook_kernel != nullptr)
    __msl_hook_kernel(abi::Traits(kRow.verb, kRow.family, kRow.heap, 0).packed(), name, name);
  return hook::callRecorded<NamedLaunch>(real, caller, type, name, more...);
};

// Several copies in one call. Each destination has an upper limit. The first version has one more parameter, which gets
// the number of the copy that failed.
constexpr auto kCopyBatch = [](auto real, void *caller, void **to, size_t *most, void **from, size_t *bytes,
                               size_t count, auto... rest) {
  const auto as_given = [&] { return real(to, most, from, bytes, count, rest...); };
  constexpr bool kHasStream = std::is_same_v<decltype(lastOf(rest...)), void *>;
  if constexpr (kHasStream)
    return copyLists<abi::Family::Acl>(as_given, caller, to, from, bytes, count, lastOf(rest...));
  else
    return copyLists<abi::Family::Acl>(as_given, caller, to, from, bytes, count);
};

// Fills with numbers of 32 bits. The block has an upper limit.
constexpr auto kFill32 = [](auto real, void *caller, void *to, size_t most, uint32_t number, size_t count,
                            auto... stream) {
  const auto as_given = [&] { return real(to, most, number, count, stream...); };
  return fillOf<abi::Family::Acl>(as_given, caller, to, number, sizeof number * count, stream...);
};

MSL_ASKED(current, "libascendcl", "aclrtGetDevice")
constexpr auto kDevice = [] {
  int32_t device = 0;
  return callReal<int(int32_t *)>(current, &device) == 0 ? device : -1;
};
constexpr auto kContext = kContextChanged<abi::Family::Acl, kDevice>;

} // namespace

#define MSL_PART_OBJECTS
#define MSL_PART_CALLS
#include "msleaks/abi/functions/acl.def"
