// Records the names of Ascend's kernels in the calls that make their handles. Later, the driver cannot be asked. The
// handle of a launch may be a function, an address on the host that stands for a function, or a whole binary.
#include "ascend/forms.h"
#include "counting/device_binary.h"
#include "devices/device.h"

#include <algorithm>
#include <cstring>

using namespace msleaks;
using namespace msleaks::hooks;

using Binary = void *;
using Function = void *;

namespace {

constexpr uint32_t kTraits = abi::Traits(abi::Verb::Kernel, abi::Family::Acl, abi::Heap::Device, 0).packed();

void tell(const void *kernel, const char *name) {
  if (__msl_hook_kernel != nullptr)
    __msl_hook_kernel(kTraits, kernel, name);
}

// Records the name of a handle that is certainly a function.
MSL_ASKED(of_acl, "libascendcl|libacl_rt", "aclrtGetFunctionName")
MSL_ASKED(of_runtime, "libruntime", "rtsFuncGetName")
void tellAsked(const Function *function) {
  char name[512];
  using Ask = int(Function, uint32_t, char *);
  int32_t status = callReal<Ask>(of_acl, *function, static_cast<uint32_t>(sizeof name), name);
  if (status == kNone)
    status = callReal<Ask>(of_runtime, *function, static_cast<uint32_t>(sizeof name), name);
  if (status == 0)
    tell(*function, name);
}

// rtDevBinary_t
struct Description {
  uint32_t magic, version;
  const void *data;
  uint64_t bytes;
};

void tellBinary(const void *handle, const Description &binary) {
  NameOfKernels kernels;
  DeviceBinary(binary.data, binary.bytes).forEachKernel([&](std::string_view name) { kernels.add(name); });
  char name[512];
  const size_t length = std::min(kernels.get().size(), sizeof name - 1);
  if (length == 0)
    return;
  std::memcpy(name, kernels.get().data(), length);
  name[length] = 0;
  tell(handle, name);
}

constexpr auto kNamed = [](auto real, void *, Binary binary, const char *name, Function *function) {
  const int status = real(binary, name, function);
  if (status == 0 && function != nullptr)
    tell(*function, name);
  return status;
};
constexpr auto kNumbered = [](auto real, void *, Binary binary, uint64_t number, Function *function) {
  const int status = real(binary, number, function);
  if (status == 0 && function != nullptr)
    tellAsked(function);
  return status;
};
constexpr auto kStub = [](auto real, void *, Binary binary, const void *stub, const char *name, const void *more,
                          uint32_t mode) {
  const int status = real(binary, stub, name, more, mode);
  if (status == 0)
    tell(stub, name);
  return status;
};
constexpr auto kWhole = [](auto real, void *, const Description *binary, void **handle) {
  const int status = real(binary, handle);
  if (status == 0 && binary != nullptr && handle != nullptr)
    tellBinary(*handle, *binary);
  return status;
};

} // namespace

#define MSL_PART_KERNELS
#include "msleaks/abi/functions/acl.def"
