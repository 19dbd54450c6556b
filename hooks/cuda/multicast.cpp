// Hooks of CUDA's functions that bind physical memory to a multicast object. Addresses that are mapped to the object
// then show the bound memory of each device.
#include "core/rows.h"
#include "cuda/rows.h"
#include "devices/memory.h"

using namespace msleaks;
using namespace msleaks::hooks;

namespace {

// A part of a multicast object.
struct Part {
  uint64_t object, offset, bytes;
};
const void *pointer(uint64_t number) { return reinterpret_cast<const void *>(number); }

// `memory`: a handle, or an address; 0: nothing is bound to the part any more.
template <class Real> CUresult boundRecorded(Real real, void *caller, const Part &part, uint64_t memory) {
  constexpr uint32_t kTraits =
      abi::Traits(abi::Verb::Show, abi::Family::Cuda, abi::Heap::Device, abi::kFromHook | abi::kDriver).packed();
  hook::Call call{kTraits, hook::kPass, reinterpret_cast<uint64_t>(caller), 0, 0, 0};
  __msl_hook_enter(&call);
  if (call.answer == hook::kPass)
    return real();
  __msl_hook_begin(&call);
  const CUresult status = real();
  __msl_hook_end(&call);
  if (status == CUresult(0) && __msl_on_mapped != nullptr)
    __msl_on_mapped(call.site, kTraits, pointer(part.object), part.bytes, pointer(memory), part.offset);
  return status;
}

// The positions of a function's parameters. The first parameter is the object.
template <int kOffset, int kMemory, int kBytes>
constexpr auto kBound = [](auto real, void *caller, auto... given) {
  const hook::Arguments values(given...);
  const Part part = {values.template word<0>(), values.template word<kOffset>(), values.template word<kBytes>()};
  return boundRecorded([=] { return real(given...); }, caller, part, values.template word<kMemory>());
};
constexpr auto kMemory = kBound<1, 2, 4>;
constexpr auto kMemoryOf = kBound<2, 3, 5>;
constexpr auto kAddress = kBound<1, 2, 3>;
constexpr auto kAddressOf = kBound<2, 3, 4>;
constexpr auto kUnbound = [](auto real, void *caller, CUmemGenericAllocationHandle object, CUdevice device,
                             size_t offset, size_t bytes) {
  const hook::WithDevice chosen(abi::Family::Cuda, static_cast<uint32_t>(device));
  return boundRecorded([=] { return real(object, device, offset, bytes); }, caller, {object, offset, bytes}, 0);
};

} // namespace

#define MSL_PART_MULTICAST
#include "msleaks/abi/functions/cuda.def"
