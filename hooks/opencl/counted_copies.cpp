// Makes the counted copies of OpenCL's kernels (abi/device_counts.h). They are in the same program, or in its counted
// program (opencl/source.cpp). When the program makes a kernel, the hooks also make the kernel's copy. The copy gets
// the same arguments and, as the last one, a buffer with counters. opencl/counted_launches.cpp launches the copy.
//
// A buffer is released with the last kernel that has counted there.
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

void remember(const CountedKernel &made) {
  __msl_kernel_arguments(made.handle, &made.function->arguments);
  if (program_state.add(made, [] { program_state.end(); }) == nullptr)
    call<int(Kernel)>(release_kernel, made.clone);
}

unsigned argumentsOf(Kernel kernel) {
  constexpr unsigned kKernelArguments = 0x1191;
  unsigned count = UINT32_MAX;
  infoOf(kernel_info, kernel, kKernelArguments, sizeof count, &count);
  return count;
}

bool isUsed(const PlacedBanks<OpenClDriver> &banks) {
  bool is_used = false;
  program_state.kernels().forEach(
      [&](const CountedKernel &kernel) { is_used = is_used || kernel.given == banks.memory; });
  return is_used;
}

void dropCopy(CountedKernel &kernel) {
  call<int(Kernel)>(release_kernel, kernel.clone);
  program_state.kernels().forget(kernel.handle);
  releaseUnused();
}

constexpr auto kCreate = [](auto real, void *caller, Program program, Text name, int *status) {
  const Kernel kernel = asRow<hook::Known<"clCreateKernel">>(real, caller, program, name, status);
  if (kernel != nullptr && name != nullptr)
    addCopy(program, kernel, name);
  return kernel;
};

constexpr auto kClone = [](auto real, void *caller, Kernel kernel, int *status) {
  const Kernel made = asRow<hook::Known<"clCloneKernel">>(real, caller, kernel, status);
  if (made != nullptr)
    onCopy(kernel, [&](CountedKernel &known) {
      int error = 0;
      const Kernel clone = real(known.clone, &error);
      if (clone == nullptr || error != kDone)
        return;
      CountedKernel added = known;
      added.handle = made;
      added.clone = clone;
      added.owners = 1;
      remember(added);
    });
  return made;
};

constexpr auto kRetain = [](auto real, void *caller, Kernel kernel) {
  const int status = asRow<hook::Known<"clRetainKernel">>(real, caller, kernel);
  if (status == kDone)
    onCopy(kernel, [](CountedKernel &known) { ++known.owners; });
  return status;
};

constexpr auto kRelease = [](auto real, void *caller, Kernel kernel) {
  // Done before the call: after it, the handle may belong to another kernel.
  onCopy(kernel, [](CountedKernel &known) {
    if (--known.owners == 0)
      dropCopy(known);
  });
  return asRow<hook::Known<"clReleaseKernel">>(real, caller, kernel);
};

template <hook::Name kName>
constexpr auto kArgument = [](auto real, void *caller, Kernel kernel, auto... argument) {
  const int status = asRow<hook::Known<kName>>(real, caller, kernel, argument...);
  if (status == kDone)
    onCopy(kernel, [&](CountedKernel &known) {
      if (real(known.clone, argument...) != kDone)
        known.is_doubtful = true;
    });
  return status;
};

// The clone would need the same setting, but does not get it. So it is not launched any more.
constexpr auto kExecution = [](auto real, void *, Kernel kernel, unsigned what, size_t bytes, const void *value) {
  onCopy(kernel, [](CountedKernel &known) { known.is_doubtful = true; });
  return real(kernel, what, bytes, value);
};

} // namespace

void cl::addCopy(Program program, Kernel kernel, const char *name) noexcept {
  constexpr unsigned kProgramContext = 0x1161;
  abi::DeviceChoice choice;
  char copy_name[kMostName];
  const size_t prefix = sizeof abi::kCountedPrefix - 1, length = std::strlen(name);
  if (prefix + length >= kMostName || isOurs(name) || !countsLaunches(choice))
    return;
  std::memcpy(copy_name, abi::kCountedPrefix, prefix);
  std::memcpy(copy_name + prefix, name, length + 1);
  const hook::OwnWork own;
  int status = 0;
  const Program counted = [&] {
    const CountedLock lock;
    return lock ? countedProgramOf(program) : program;
  }();
  const Kernel clone = call<Kernel(Program, Text, int *)>(create_kernel, counted, copy_name, &status);
  if (clone == nullptr || status != kDone)
    return;
  Context context = nullptr;
  const unsigned arguments = argumentsOf(kernel);
  const CountedLock lock;
  CountedFunction *function = nullptr;
  if (lock && program_state.make() && infoOf(program_info, program, kProgramContext, sizeof context, &context) &&
      arguments < UINT32_MAX - 1 && argumentsOf(clone) == arguments + 1)
    function = cl::functionOf(counted, context, name);
  if (function != nullptr)
    remember({kernel, clone, context, function, arguments});
  else
    call<int(Kernel)>(release_kernel, clone);
}

void cl::releaseUnused() noexcept {
  program_state.banks().forEach([](PlacedBanks<OpenClDriver> &banks) {
    if (banks.isIdle() && !isUsed(banks))
      banks.drop();
  });
}

#define MSL_PART_COUNTED_COPIES
#include "msleaks/abi/functions/opencl.def"
