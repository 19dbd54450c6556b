// Hides the kernels that the plugin has added from the program.
#include "opencl/counted_copies.h"
#include "opencl/programs.h"

using namespace msleaks;
using namespace msleaks::hooks;
using namespace msleaks::hooks::cl;

namespace {

MSL_ASKED(create_kernel, "libOpenCL", "clCreateKernel")
MSL_ASKED(release_kernel, "libOpenCL", "clReleaseKernel")
MSL_ASKED(kernel_info, "libOpenCL", "clGetKernelInfo")
MSL_ASKED(program_info, "libOpenCL", "clGetProgramInfo")

constexpr auto kProgramInfo = [](auto real, void *, Program program, unsigned what, size_t room, void *to,
                                 size_t *wanted) {
  if (what != kKernelNames && what != kKernelCount)
    return static_cast<int>(real(program, what, room, to, wanted));
  const hook::OwnWork own;
  Names names(program_info, program);
  size_t count = 0, length = 0;
  bool has_ours = false;
  names.forEach([&](const char *name) {
    has_ours = has_ours || isOurs(name);
    if (isOurs(name))
      return;
    // The name moves towards the beginning of the text, because some names before it are left out.
    const size_t bytes = std::strlen(name);
    if (count++ != 0)
      names.text()[length++] = ';';
    std::memmove(names.text() + length, name, bytes);
    length += bytes;
  });
  if (!has_ours)
    return static_cast<int>(real(program, what, room, to, wanted));
  names.text()[length++] = 0;
  const void *const answer = what == kKernelNames ? static_cast<const void *>(names.text()) : &count;
  const size_t bytes = what == kKernelNames ? length : sizeof count;
  if (to != nullptr && room < bytes)
    return kInvalidValue;
  if (to != nullptr)
    std::memcpy(to, answer, bytes);
  if (wanted != nullptr)
    *wanted = bytes;
  return kDone;
};

// If the program also contains counted copies, the hook creates only its other kernels, one after the other.
constexpr auto kCreateAll = [](auto real, void *caller, Program program, unsigned room, Kernel *kernels,
                               unsigned *made) {
  unsigned count = 0;
  unsigned *const counted = made != nullptr ? made : &count; // the hook needs it, even if the caller does not
  const auto those = [&](auto...) {
    Names names(program_info, program);
    unsigned wanted = 0, ours = 0;
    names.forEach([&](const char *name) { ++(isOurs(name) ? ours : wanted); });
    if (ours == 0)
      return static_cast<int>(real(program, room, kernels, counted));
    *counted = wanted;
    if (kernels == nullptr)
      return kDone;
    if (room < wanted)
      return kInvalidValue;
    int status = kDone;
    unsigned done = 0;
    names.forEach([&](const char *name) {
      int error = 0;
      if (status != kDone || isOurs(name))
        return;
      kernels[done] = call<Kernel(Program, Text, int *)>(create_kernel, program, name, &error);
      status = error;
      done += error == kDone;
    });
    for (unsigned i = 0; status != kDone && i < done; ++i)
      call<int(Kernel)>(release_kernel, kernels[i]);
    return status;
  };
  const int status = asRow<hook::Known<"clCreateKernelsInProgram">>(those, caller, program, room, kernels, counted);
  if (status != kDone || kernels == nullptr)
    return status;
  for (unsigned i = 0; i < *counted; ++i) {
    char name[kMostName];
    if (infoOf(kernel_info, kernels[i], kFunctionName, sizeof name, name))
      addCopy(program, kernels[i], name);
  }
  return status;
};

} // namespace

#define MSL_PART_HIDDEN_KERNELS
#include "msleaks/abi/functions/opencl.def"
