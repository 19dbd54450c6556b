// Hooks of OpenCL, for host programs that are not compiled with the plugin. opencl/counted_launches.cpp hooks the
// launches of kernels.
#include "opencl/calls.h"

using namespace msleaks;
using namespace msleaks::hooks::cl;

namespace {

// A buffer that uses the program's host memory has no memory of its own.
template <hook::Name kName, int kFlagsAt>
constexpr auto kBuffer = [](auto real, void *caller, auto... parameters) {
  constexpr Bits kUsesHostMemory = 1 << 3; // CL_MEM_USE_HOST_PTR
  using OfRow = hook::Known<kName>;
  const auto create = [real](decltype(parameters)... given) {
    const Bits flags = hook::Arguments<decltype(given)...>(given...).template word<kFlagsAt>();
    if ((flags & kUsesHostMemory) != 0 && __msl_hook_flags != nullptr)
      __msl_hook_flags(hook::Callbacks<OfRow, hook::Arguments<decltype(given)...>>::kTraits, abi::kReserve);
    return real(given...);
  };
  return hook::callRecorded<OfRow>(create, caller, parameters...);
};
constexpr auto kPlainBuffer = kBuffer<"clCreateBuffer", 1>;
constexpr auto kBufferWithProperties = kBuffer<"clCreateBufferWithProperties", 2>;

} // namespace

MSL_HOOK_WITH(kPlainBuffer, libOpenCL, Mem, clCreateBuffer, (Context, Bits, size_t, void *, int *))
MSL_HOOK_WITH(kBufferWithProperties, libOpenCL, Mem, clCreateBufferWithProperties,
              (Context, const Bits *, Bits, size_t, void *, int *))
MSL_HOOK(libOpenCL, Mem, clCreatePipe, (Context, Bits, unsigned, unsigned, const void *, int *))
MSL_HOOK(libOpenCL, void *, clSVMAlloc, (Context, Bits, size_t, unsigned))
MSL_HOOK(libOpenCL, int, clRetainMemObject, (Mem))
MSL_HOOK(libOpenCL, int, clReleaseMemObject, (Mem))
MSL_HOOK(libOpenCL, void, clSVMFree, (Context, void *))
MSL_HOOK(libOpenCL, int, clEnqueueReadBuffer, (Queue, Mem, unsigned, size_t, size_t, void *, unsigned, Events, Event *))
MSL_HOOK(libOpenCL, int, clEnqueueWriteBuffer,
         (Queue, Mem, unsigned, size_t, size_t, const void *, unsigned, Events, Event *))
MSL_HOOK(libOpenCL, int, clEnqueueCopyBuffer, (Queue, Mem, Mem, size_t, size_t, size_t, unsigned, Events, Event *))
MSL_HOOK(libOpenCL, int, clEnqueueFillBuffer,
         (Queue, Mem, const void *, size_t, size_t, size_t, unsigned, Events, Event *))
MSL_HOOK(libOpenCL, int, clEnqueueSVMMemcpy, (Queue, unsigned, void *, const void *, size_t, unsigned, Events, Event *))
MSL_HOOK(libOpenCL, int, clEnqueueSVMMemFill, (Queue, void *, const void *, size_t, size_t, unsigned, Events, Event *))
MSL_HOOK(libOpenCL, int, clEnqueueUnmapMemObject, (Queue, Mem, void *, unsigned, Events, Event *))
MSL_HOOK(libOpenCL, int, clEnqueueSVMUnmap, (Queue, void *, unsigned, Events, Event *))
MSL_HOOK(libOpenCL, int, clEnqueueReadBufferRect,
         (Queue, Mem, unsigned, Sizes, Sizes, Sizes, size_t, size_t, size_t, size_t, void *, unsigned, Events, Event *))
MSL_HOOK(libOpenCL, int, clEnqueueWriteBufferRect,
         (Queue, Mem, unsigned, Sizes, Sizes, Sizes, size_t, size_t, size_t, size_t, const void *, unsigned, Events,
          Event *))
MSL_HOOK(libOpenCL, int, clEnqueueCopyBufferRect,
         (Queue, Mem, Mem, Sizes, Sizes, Sizes, size_t, size_t, size_t, size_t, unsigned, Events, Event *))
MSL_HOOK(libOpenCL, int, clEnqueueCopyBufferToImage, (Queue, Mem, Mem, size_t, Sizes, Sizes, unsigned, Events, Event *))
MSL_HOOK(libOpenCL, int, clEnqueueCopyImageToBuffer, (Queue, Mem, Mem, Sizes, Sizes, size_t, unsigned, Events, Event *))
MSL_HOOK(libOpenCL, int, clEnqueueReadImage,
         (Queue, Mem, unsigned, Sizes, Sizes, size_t, size_t, void *, unsigned, Events, Event *))
MSL_HOOK(libOpenCL, int, clEnqueueWriteImage,
         (Queue, Mem, unsigned, Sizes, Sizes, size_t, size_t, const void *, unsigned, Events, Event *))
MSL_HOOK(libOpenCL, int, clEnqueueCopyImage, (Queue, Mem, Mem, Sizes, Sizes, Sizes, unsigned, Events, Event *))
MSL_HOOK(libOpenCL, int, clEnqueueFillImage, (Queue, Mem, const void *, Sizes, Sizes, unsigned, Events, Event *))
MSL_HOOK(libOpenCL, int, clEnqueueNativeKernel,
         (Queue, void (*)(void *), void *, size_t, unsigned, const Mem *, const void **, unsigned, Events, Event *))
