#include "opencl/driver.h"
#include "opencl/programs.h"

namespace msleaks::hooks::cl {
namespace {

MSL_ASKED(create_kernel, "libOpenCL", "clCreateKernel")
MSL_ASKED(release_kernel, "libOpenCL", "clReleaseKernel")
MSL_ASKED(set_argument, "libOpenCL", "clSetKernelArg")
MSL_ASKED(program_info, "libOpenCL", "clGetProgramInfo")
MSL_ASKED(launch, "libOpenCL", "clEnqueueNDRangeKernel")

// Gets a module's table through the kernel __msl_graphs_HASH, which copies it: first the header, which contains the
// table's size, and then the whole table.
CountedModule *moduleOf(Program program, const OpenClDriver::Place &place, const char *name) {
  const OwnStream<OpenClDriver> queue({}, place);
  int status = 0;
  const Kernel kernel = call<Kernel(Program, Text, int *)>(create_kernel, program, name, &status);
  if (kernel == nullptr)
    return nullptr;
  const auto copy = [&](void *to, uint64_t bytes) {
    const Mem memory = queue.get() != nullptr ? OpenClDriver::makeMemory(place, queue.get(), to, bytes) : nullptr;
    if (memory == nullptr)
      return false;
    const size_t words = bytes / sizeof(uint64_t);
    const bool is_done =
        call<SetArgument>(set_argument, kernel, 0u, sizeof memory, &memory) == kDone &&
        call<Launch>(launch, queue.get(), kernel, 1u, nullptr, &words, nullptr, 0u, nullptr, nullptr) == kDone &&
        OpenClDriver::read(place, queue.get(), memory, 0, bytes, to);
    OpenClDriver::dropMemory(memory);
    return is_done;
  };
  CountedModule *const module = readModule(name, UINT64_MAX, copy);
  call<int(Kernel)>(release_kernel, kernel);
  return module;
}

} // namespace

CountedFunction *functionOf(Program program, Context context, const char *kernel) noexcept {
  constexpr size_t kMostDevices = 16;
  constexpr unsigned kProgramDevices = 0x1163;
  Device devices[kMostDevices] = {};
  if (!infoOf(program_info, program, kProgramDevices, sizeof devices, devices))
    return nullptr;
  CountedFunction *found = nullptr;
  Names(program_info, program).forEach([&](const char *name) {
    if (found != nullptr || !std::string_view(name).starts_with(abi::kGraphsPrefix))
      return;
    CountedModule *module = findModule(name);
    if (module == nullptr)
      module = moduleOf(program, {context, devices[0]}, name);
    if (module != nullptr)
      found = hooks::functionOf(*module, kernel);
  });
  return found;
}

} // namespace msleaks::hooks::cl
